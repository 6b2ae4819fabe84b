"""Agreed comments → PNG: Markdown to HTML as GitHub would, GitHub's style around it, one picture a
comment. The question at the design is also made on a page of 390 pixels, where its lines up to the
last answer are counted, and as a terminal of 80 columns shows it.
"""

# Pillow is installed beside the project for this script alone, so its types are unknown here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from PIL import Image
from rich.terminal_theme import DIMMED_MONOKAI

from forge_bot.cli.console import Console
from forge_bot.cli.terminal_session import show_question
from tests.bot import scene

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "bot" / "golden"
IMAGES = ROOT / "docs" / "images"
WIDTH, PHONE = 940, 390
NARROWEST_WINDOW = 500
MOST_LINES, COLUMNS = 45, 80
SCREEN, FOLD, LINES_OF_A_PHONE = 1000, 664, 50
COLORS, SCALE = 128, 1.5
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
body.phone { padding: 8px; width: 374px; }
body.terminal { background: #191919; } body.terminal pre { font: 15px "DejaVu Sans Mono", monospace; margin: 0; }
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


MEASURE = """<script>
const tops = [], shown = document.querySelector('.shown');
const answers = [...shown.querySelectorAll('code')].filter(each => each.textContent.startsWith('/abandon'));
const last = answers.length ? answers[0].getBoundingClientRect().bottom : 0;
const walk = document.createTreeWalker(shown.querySelector('article') || shown, NodeFilter.SHOW_TEXT);
for (let node = walk.nextNode(); node; node = walk.nextNode()) {
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) {
    const middle = (box.top + box.bottom) / 2;
    if (node.textContent.trim() && middle < last && !tops.some(top => Math.abs(top - middle) < 8)) tops.push(middle);
  }
}
const asked = [...shown.querySelectorAll('p')].find(each => each.textContent.startsWith('You decide'));
const decided = asked ? asked.nextElementSibling.getBoundingClientRect().bottom : 0;
document.title = [shown.getBoundingClientRect().bottom, tops.length, shown.scrollWidth, last, decided].map(Math.ceil).join(' ');
</script>"""


def comment(browser: str, css: str, source: Path, target: Path, width: int = WIDTH) -> None:
    """One comment as a picture, as high as it is."""
    who = '<div class="who"><b>forge-bot</b> <span>bot</span> commented now</div>'
    title, text = "", source.read_text("utf-8")
    if text.startswith("# "):
        first, _, text = text.partition("\n")
        title = f'<h1 class="title">{html(first[2:])}</h1>'
    body = (
        f'{title}<div class="shown"><div class="comment">{who}<article'
        f' class="markdown-body">{html(text)}</article></div></div>'
    )
    lines, wide, last, decided = photographed(browser, css, body, target, width)
    if last:
        print(f"{lines} lines, {last} pixels to the last answer, {decided} to that of a decision")
    if last > SCREEN and width != PHONE:
        sys.exit(f"At most {SCREEN} pixels were agreed up to the last answer.")
    if width == PHONE and (not 0 < lines <= LINES_OF_A_PHONE or wide > PHONE or decided > FOLD):
        sys.exit(
            f"At most {LINES_OF_A_PHONE} lines were agreed, and {FOLD} pixels for the decisions."
        )


def terminal(browser: str, css: str, target: Path) -> None:
    """The question at the design on a terminal of 80 columns."""
    question = scene.design_waits().question
    if question is None:
        sys.exit("The scene has no question.")
    console = Console()
    console.file, console.record, console.width = io.StringIO(), True, COLUMNS
    console.height = MOST_LINES
    show_question(question, console)
    console.print("[bold]Your answer[/]: ", end="")
    text = console.export_html(inline_styles=True, theme=DIMMED_MONOKAI, code_format="{code}")
    lines = len(text.strip().splitlines())
    print(f"the question at {COLUMNS} columns: {lines} lines")
    if lines > MOST_LINES:
        sys.exit(f"At most {MOST_LINES} lines were agreed.")
    body = f'<pre class="shown" style="color: #d9d9d9">{text}</pre>'
    photographed(browser, css, body, target, WIDTH - 160, "terminal")


def photographed(
    browser: str, css: str, body: str, target: Path, width: int, kind: str = ""
) -> tuple[int, int, int, int]:
    """Make a picture of a page. Return its lines up to the last answer, its width, and in pixels
    where that answer and the open decisions end.
    """
    kind = kind or ("phone" if width == PHONE else "wide")
    page = (
        f'<!doctype html><meta charset="utf-8"><style>{css}{STYLE}</style>'
        f'<body class="{kind}">{body}{MEASURE}'
    )
    window = max(width, NARROWEST_WINDOW)
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
            [*flags, f"--window-size={window},800", "--dump-dom", str(place)],
            capture_output=True,
            text=True,
            check=True,
        )
        title = re.findall(r"<title>([\d ]+)</title>", dumped.stdout)[0]
        bottom, lines, wide, last, decided = map(int, title.split())
        height = bottom + 20
        shot = Path(folder) / "shot.png"
        size = [
            f"--force-device-scale-factor={SCALE}",
            f"--window-size={window},{height}",
            f"--screenshot={shot}",
        ]
        subprocess.run([*flags, *size, str(place)], capture_output=True, check=True)
        whole = Image.open(shot).convert("RGB")
        whole = whole.crop((0, 0, int(width * SCALE), whole.height))
        whole.quantize(COLORS).save(target, optimize=True)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KB")
    return lines, wide, last, decided


def main() -> None:
    """All pictures."""
    browser, style = sys.argv[1:]
    css = Path(style).read_text("utf-8")
    IMAGES.mkdir(exist_ok=True)
    for source, name in PICTURES.items():
        comment(browser, css, GOLDEN / f"{source}.md", IMAGES / f"{name}.png")
    comment(browser, css, GOLDEN / "checkpoint-design.md", IMAGES / "question-390.png", PHONE)
    terminal(browser, css, IMAGES / "question-terminal.png")


if __name__ == "__main__":
    main()
