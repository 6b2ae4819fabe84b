"""Words by which a request shows its size and kind: English, German, French, Spanish, Japanese, Chinese, Korean.

Each list is one pattern for a text without line ends and double blanks. Where a language puts blanks between words, a word
counts only as a whole: “invalidation” holds no “validation”. Characters of Chinese, Japanese and Korean are no part of a Latin
word beside them: in `typoを修正` stands “typo”.
Phrases are preferred to single words that mean something else in every second bug report (message, show, flag).
"""

import re
from collections.abc import Sequence

_LATIN = r"0-9A-Za-z_\u00c0-\u024f"


def _pattern(spaced: Sequence[str], unspaced: Sequence[str] = ()) -> re.Pattern[str]:
    words = rf"(?<![{_LATIN}])(?:{'|'.join(spaced)})(?![{_LATIN}])"
    return re.compile("|".join([words, *unspaced]), re.IGNORECASE)


_PAPERS = r"(?:guides?|docs?|documentation|notes?|pages?|files?|scripts?|diagrams?|overview|section|chapter|decisions?|records?)\b"
_TEXTS = r"(?:sentence|wording|text|paragraph|comment|message|error|docstring|title|description|readme|tests?)"

# Each of these is large wherever it stands in a request.
LARGE = _pattern(
    [
        # English
        r"migrat(?:e|es|ing) (?:[\w.,-]+ ){0,6}?(?:to|from|off|away from)",
        r"(?:brand[- ])?new (?:back[- ]?end |background |internal |external |separate |standalone )?(?:micro-?)?services?",
        r"new (?:public |internal )?(?:rest |graphql |http |grpc )?(?:apis?|endpoints?)|new subsystem",
        r"redesign(?:s|ed|ing)?|re-?architect(?:ing|s)?|(?:complete|major|full) overhaul|from scratch",
        rf"(?<!url )(?<!path )rewrit(?:e|es|ing)(?! (?:rules?|urls?))(?!(?: the)? {_TEXTS})",
        r"(?:new|event-driven|microservices?|plug-?in|hexagonal|modular|layered|serverless) architecture",
        r"architectur(?:e|al) changes?",
        r"(?:change|rework|rethink|overhaul|simplify|improve) the (?:\w+ ){0,2}?architecture",
        r"(?:add|introduce|implement|support) multi-?tenan(?:cy|t support)",
        r"across the (?:whole|entire) (?:code ?base|application|system)",
        r"replace the (?:\w+ )?(?:database|framework|orm|build system|storage layer)",
        # German
        r"neue[rns]? (?:micro-?)?(?:dienst|service|schnittstelle|api|endpunkt|endpoint)s?",
        r"grundlegende[rns]? (?:überarbeitung|umbau)",
        r"neugestaltung|neuentwicklung|(?:komplett|vollständig|von grund auf) neu(?: schreiben| entwickeln| bauen)?",
        # French
        r"nouv(?:eau|elle|el) (?:micro-?)?(?:service|api|endpoint|point d[’']accès)|migr(?:er|ez|ons) (?:\w+ ){1,5}?vers",
        r"refonte|ré-?écri(?:ture|re)",
        # Spanish
        r"nuev[oa] (?:micro)?(?:servicio|api|endpoint)|migrar (?:\w+ ){1,5}?a",
        r"rediseñ(?:o|ar)|re-?escrib(?:ir|e)|re-?escritura",
    ],
    [
        # Japanese
        r"再設計|設計し直|作り直|(?:全面的に|一から|ゼロから)書き(?:直|換|替)|刷新|全面改修|リプレース",
        r"(?:新しい|新規の?|新)\s?(?:マイクロ)?サービス|(?:新しい|新規の?|新)\s?(?:API|エンドポイント)",
        # Chinese
        r"新的?(?:微)?服务|新的?(?:接口|API)|重新设计|重写|从零开始",
        # Korean
        r"(?:새로운|새|신규)\s?(?:서비스|API|엔드포인트)|재설계|재작성|전면\s?개편",
    ],
)

# Nouns that long reports mention in passing, an environment table or a log: they count in a title or a short request.
LARGE_NOUNS = _pattern(
    [
        rf"(?:(?:data|database|schema|cloud) )?migrations?(?! {_PAPERS})",
        rf"(?<!cpu )(?<!processor )(?<!target )(?<!arm )(?<!arm64 )(?<!x86 )architecture(?! {_PAPERS})(?!:)",
        r"(?:daten|datenbank|schema|server|system|cloud)migration(?:en)?|(?:software|system)?architektur",
        r"migraci(?:ón|ones)|arquitectura",
    ],
    [
        r"(?:データ|データベース|DB|クラウド|環境|システム)?移行|マイグレーション|アーキテクチャ",
        r"迁移|遷移至|架构",
        r"마이그레이션|아키텍처",
    ],
)

_SHOWN = r"(?:error message|tooltip|placeholder|button text|label)"
_FIELD = r"(?:\w+ ){0,3}?(?:fields?|inputs?|columns?|parameters?|arguments?|attributes?)"

SMALL = _pattern(
    [
        # English
        r"typos?|misspell(?:ing|ings|ed)|misspelt|spelling (?:mistakes?|errors?)|grammar",
        r"rename[sd]?|renaming",
        r"wording|rewords?|rephrase[sd]?|capitali[sz]ation|copy change",
        rf"(?:change|fix|correct|improve|clarify|update|shorten) (?:the |an |a )?(?:\w+ ){{0,2}}?{_SHOWN}",
        rf"validation (?:of|for|on) (?:a |an |the )?{_FIELD}",
        rf"validate (?:that )?(?:a |an |the )?{_FIELD}",
        rf"(?:field|input) validation|make (?:a |an |the )?{_FIELD} (?:optional|required|mandatory)",
        r"hide (?:a |an |the )?(?:\w+ ){0,2}?(?:button|column|banner|icon|link|badge|tooltip|label)",
        r"(?:broken|dead) links?|one-?liner|docstrings?|unused (?:imports?|variables?)",
        r"change (?:the |a )?(?:\w+ ){0,2}?(?:colou?r|default value|default|icon|font size|padding)",
        r"bump (?:the )?version",
        # German
        r"tippfehler|schreibfehler|rechtschreib\w*|umbenenn\w*|beschriftung(?:en)?|wortlaut|umformulier\w*|pflichtfeld(?:er)?",
        r"(?:validierung|prüfung) (?:des|der|eines) (?:\w+ )?\w*(?:feld|feldes|eingabe|felder)",
        # French
        r"fautes? de frappe|coquilles?|fautes? d[’']orthographe|renomm(?:er|age|ez)|libellés?|reformul(?:er|ation)",
        r"champs? obligatoires?|validation d(?:u|es|’un|'un) champs?",
        # Spanish
        r"erratas?|error(?:es)? tipográficos?|faltas? de ortografía|renombrar|redacción|campos? obligatorios?",
        r"validación del? campo",
    ],
    [
        # Japanese
        r"誤字|脱字|誤植|タイポ|スペルミス|綴り間違い|リネーム|改名|(?:名前|名称|名)(?:を|の)変更|名称変更|文言|表記ゆれ|表記揺れ|リンク切れ",
        r"(?:項目|入力値?|フィールド|欄)(?:の|に)?(?:バリデーション|入力チェック|検証)|入力チェック|必須(?:項目|入力)?に(?:する|変更)|任意(?:項目|入力)?に(?:する|変更)",
        # Chinese
        r"错别字|拼写错误|笔误|重命名|改名|文案|措辞|字段校验|必填",
        # Korean
        r"오타|오탈자|맞춤법|이름\s*변경|이름을\s*(?:변경|바꾸|바꿔)|문구|필수\s*(?:항목|입력)",
    ],
)

_DENIAL = r"no|not|never|without|avoids?|instead of|rather than|kein\w*|nicht|ohne|statt|pas de|sans|ne pas|no hay|sin|nunca"
NEGATED_BEFORE = re.compile(rf"(?:(?<![{_LATIN}])(?:{_DENIAL})|n['’]t) (?:\w+ ){{0,3}}$", re.IGNORECASE)
NEGATED_AFTER = re.compile(
    r"(?:作業)?[はもがを]?\s?(?:不要|必要ありません|必要ない|なし|無し|しない|せず|行わない|伴わない)"
    r"|[은는]?\s?(?:불필요|필요\s?없|없이)"
    r"| ?(?:is |are )?(?:not (?:needed|required|necessary)|unnecessary|out of scope)",
    re.IGNORECASE,
)

FIX = _pattern(
    [
        r"(?:hot|bug)?fix(?:es|ed|ing)?|bugs?|defects?|crash(?:es|ed|ing)?|regressions?|broken|fails|failing|leaks?|flaky",
        r"[a-z]+(?:error|exception)s?|(?:doesn|don|isn|can)['’]t work",
        r"fehler|fehlerbehebung|beheben|behebt|absturz",
        r"corrig(?:er|e|ez)|correctifs?|bogues?|bugue?s?",
        r"corregir|corrige|errores|fallos?",
    ],
    [r"バグ|修正|不具合|障害(?!者)|エラーが(?:発生|出)|(?<![見りきし])直(?:す|して)", r"修复|修正|错误|缺陷", r"버그|수정|오류|고치"],
)
REFACTOR = _pattern(
    [
        r"refactor(?:s|ed|ing)?|restructur(?:e|es|ed|ing)|reorgani[sz](?:e|es|ed|ing)|clean[- ]?up|simplify",
        r"refaktorier\w*|umstrukturier\w*|aufräumen",
        r"refactoris\w*|restructur(?:er|ation)",
        r"refactoriza\w*|reestructura\w*",
    ],
    [r"リファクタ|再構成|構造改善|整理", r"重构|重構", r"리팩터|리팩토"],
)
DOCS = _pattern(
    [
        r"docs?|documentation|document the|readmes?|changelog|tutorials?|guides?|manual|docstrings?",
        r"dokumentation|dokumentieren|anleitung|handbuch",
        r"documenter",
        r"documentación|documentar",
    ],
    [r"ドキュメント|文書|資料|マニュアル", r"文档|文檔", r"문서"],
)
CHORE = _pattern(
    [
        r"dependenc(?:y|ies)|deps|upgrad(?:e|es|ed|ing)|bump(?:s|ed|ing)?|chores?|housekeeping|lock ?files?",
        r"abhängigkeit(?:en)?|aktualisieren",
        r"dépendances?|mettre à jour",
        r"dependencias?|actualizar",
    ],
    [r"依存|アップグレード|バージョンアップ", r"依赖|升级", r"의존성|업그레이드"],
)
# Weaker than the words above, and looked for in titles only: settings and moves are as often part of something else.
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
