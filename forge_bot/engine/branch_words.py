"""Words that show the kind of change a request asks for.

The languages are English, German, French, Spanish, Japanese, Chinese and Korean. Each list is one
pattern for a text without line ends and double blanks. Where a language puts blanks between words,
only whole words count: “invalidation” does not match “validation”. Chinese, Japanese and Korean
characters do not extend a Latin word beside them: `typoを修正` contains the word “typo”. The lists
prefer phrases to single words that often mean something else in bug reports (message, show, flag).
"""

import re
from collections.abc import Sequence

_LATIN = r"0-9A-Za-z_\u00c0-\u024f"


def _pattern(spaced: Sequence[str], unspaced: Sequence[str] = ()) -> re.Pattern[str]:
    words = rf"(?<![{_LATIN}])(?:{'|'.join(spaced)})(?![{_LATIN}])"
    return re.compile("|".join([words, *unspaced]), re.IGNORECASE)


FIX = _pattern(
    [
        r"(?:hot|bug)?fix(?:es|ed|ing)?|bugs?|defects?|crash(?:es|ed|ing)?|regressions?|broken|fails|failing|leaks?|flaky",
        r"[a-z]+(?:error|exception)s?|(?:doesn|don|isn|can)['’]t work",
        r"fehler|fehlerbehebung|beheben|behebt|absturz",
        r"corrig(?:er|e|ez)|correctifs?|bogues?|bugue?s?",
        r"corregir|corrige|errores|fallos?",
    ],
    [
        r"バグ|修正|不具合|障害(?!者)|エラーが(?:発生|出)|(?<![見りきし])直(?:す|して)",
        r"修复|修正|错误|缺陷",
        r"버그|수정|오류|고치",
    ],
)
REFACTOR = _pattern(
    [
        (
            r"refactor(?:s|ed|ing)?|restructur(?:e|es|ed|ing)|reorgani[sz](?:e|es|ed|ing)|clean[-"
            r" ]?up|simplify"
        ),
        r"refaktorier\w*|umstrukturier\w*|aufräumen",
        r"refactoris\w*|restructur(?:er|ation)",
        r"refactoriza\w*|reestructura\w*",
    ],
    [r"リファクタ|再構成|構造改善|整理", r"重构|重構", r"리팩터|리팩토"],
)
DOCS = _pattern(
    [
        (
            r"docs?|documentation|document"
            r" the|readmes?|changelog|tutorials?|guides?|manual|docstrings?"
        ),
        r"dokumentation|dokumentieren|anleitung|handbuch",
        r"documenter",
        r"documentación|documentar",
    ],
    [r"ドキュメント|文書|資料|マニュアル", r"文档|文檔", r"문서"],
)
CHORE = _pattern(
    [
        (
            r"dependenc(?:y|ies)|deps|upgrad(?:e|es|ed|ing)|bump(?:s|ed|ing)?|chores?|housekeeping|lock"
            r" ?files?"
        ),
        r"abhängigkeit(?:en)?|aktualisieren",
        r"dépendances?|mettre à jour",
        r"dependencias?|actualizar",
    ],
    [r"依存|アップグレード|バージョンアップ", r"依赖|升级", r"의존성|업그레이드"],
)
# These words are weaker than the words above and are looked for in titles only: settings and moves
# are just as often part of something else.
SETTINGS = _pattern(
    [r"migrations?|config(?:s|uration)?", r"konfiguration", r"configuración"],
    [r"移行|設定", r"迁移|配置", r"마이그레이션|설정"],
)
FEATURE = _pattern(
    [
        r"add(?:s|ed|ing)?|implement(?:s|ed|ing)?|introduc(?:e|es|ing)|support(?:s|ed|ing)?|allow(?:s|ing)?|creat(?:e|es|ing)|new|build",
        r"hinzufügen|ergänzen|einführen|neue[rns]?|unterstütz\w*|ermöglich\w*",
        r"ajout(?:er|e|ez)|créer|permettre|nouv(?:eau|elle|el)",
        r"añadir|agregar|crear|permitir|nuev[oa]",
    ],
    [r"追加|実装|新規|できるように", r"添加|新增|增加|实现|支持", r"추가|구현|지원"],
)
