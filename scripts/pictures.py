"""Agreed comments → PNG: Markdown to HTML as GitHub would, GitHub's style around it, one picture a
comment.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from PIL import Image

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "bot" / "golden"
IMAGES = ROOT / "docs" / "images"
WIDTH = 940
COLORS = 128
PICTURES = {
    "tracking-at-work": "tracking",
    "checkpoint-design": "checkpoint-design",
    "checkpoint-design-again": "checkpoint-again",
    "checkpoint-protected-paths": "checkpoint-c",
    "pull-request": "pull-request",
}
# Octicons' signs of the five alerts are replaced by letters that every font has.
SIGNS = {"note": "ℹ️", "tip": "💡", "important": "💬", "warning": "⚠", "caution": "⛔"}
STYLE = """
body { margin: 0; padding: 20px; background: #fff; width: 900px; }
.comment { border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden; }
.who { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 16px; font: 14px -apple-system, "Liberation Sans", sans-serif;
  color: #59636e; } .who b { color: #1f2328; } .who span { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px; }
.markdown-body { padding: 16px; font-size: 14px; font-family: "Liberation Sans", "Noto Color Emoji", sans-serif; }
.markdown-body code, .markdown-body pre { font-family: "Liberation Mono", "DejaVu Sans Mono", monospace !important; }
.markdown-body .task { list-style: none; margin-left: -1.4em; }
.add { background: #dafbe1; display: block; } .del { background: #ffebe9; display: block; } .at { color: #6639ba; display: block; }
.title { font: 24px "Liberation Sans", sans-serif; margin: 0 0 16px; } .title p { margin: 0; }
.title code { font: 22px "Liberation Mono", monospace; background: #eff1f3; border-radius: 6px; padding: 2px 5px; }
.line { display: block; min-height: 1em; }
"""


def html(markdown: str) -> str:
    """A comment as GitHub renders it: line ends are breaks, alerts are boxes, boxes are ticked,
    differences have colours.
    """
    page = (
        MarkdownIt("commonmark", {"breaks": True})
        .enable(["table", "strikethrough"])
        .render(markdown)
    )
    page = re.sub(
        r"<blockquote>\n<p>\[!(\w+)\](?:<br />)?\n?(.*?)</blockquote>",
        _alert,
        page,
        flags=re.DOTALL,
    )
    page = re.sub(
        r"<li>(<p>)?\[ \] ", r'<li class="task">\1<input type="checkbox" disabled> ', page
    )
    return re.sub(r'<code class="language-diff">(.*?)</code>', _difference, page, flags=re.DOTALL)


def _alert(found: re.Match[str]) -> str:
    tone = found[1].lower()
    title = f'<p class="markdown-alert-title">{SIGNS[tone]}&nbsp; {tone.capitalize()}</p>'
    return f'<div class="markdown-alert markdown-alert-{tone}">{title}<p>{found[2]}</div>'


def _difference(found: re.Match[str]) -> str:
    kinds = {"+": "add", "-": "del", "@": "at"}
    named = ("+++", "---", "diff", "index")
    lines = [
        "<span"
        f' class="{"at" if line.startswith(named) else kinds.get(line[:1], "line")}">{line}</span>'
        for line in found[1].rstrip("\n").split("\n")
    ]
    return f"<code>{''.join(lines)}</code>"


def picture(browser: str, css: str, source: Path, target: Path) -> None:
    """One comment as a picture, as high as it is."""
    who = '<div class="who"><b>forge-bot</b> <span>bot</span> commented now</div>'
    title, text = "", source.read_text("utf-8")
    if text.startswith("# "):
        first, _, text = text.partition("\n")
        title = f'<h1 class="title">{html(first[2:])}</h1>'
    body = (
        f'{title}<div class="comment">{who}<article'
        f' class="markdown-body">{html(text)}</article></div>'
    )
    script = (
        "<script>document.title ="
        " document.querySelector('.comment').getBoundingClientRect().bottom</script>"
    )
    page = f'<!doctype html><meta charset="utf-8"><style>{css}{STYLE}</style>{body}{script}'
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "page.html"
        place.write_text(page, encoding="utf-8")
        flags = [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
        ]
        dumped = subprocess.run(
            [*flags, f"--window-size={WIDTH},800", "--dump-dom", str(place)],
            capture_output=True,
            text=True,
            check=True,
        )
        height = int(float(re.findall(r"<title>([\d.]+)</title>", dumped.stdout)[0])) + 20
        shot = Path(folder) / "shot.png"
        size = [
            "--force-device-scale-factor=1.5",
            f"--window-size={WIDTH},{height}",
            f"--screenshot={shot}",
        ]
        subprocess.run([*flags, *size, str(place)], capture_output=True, check=True)
        Image.open(shot).convert("RGB").quantize(COLORS).save(target, optimize=True)


def main() -> None:
    """All pictures."""
    browser, style = sys.argv[1:]
    IMAGES.mkdir(exist_ok=True)
    for source, name in PICTURES.items():
        target = IMAGES / f"{name}.png"
        picture(browser, Path(style).read_text("utf-8"), GOLDEN / f"{source}.md", target)
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
