"""HTML names that decide what is drawn: elements, attributes, values, styles."""


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


# Elements of the HTML standard, including obsolete ones. Tags with other names are not shown, and a
# name can be a message.
ELEMENTS = _words(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink"
    " blockquote body br button canvas caption center cite code col colgroup data datalist dd del"
    " details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame"
    " frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend"
    " li link main map mark marquee math menu meta meter nav nobr noembed noframes noscript object"
    " ol optgroup option output p param picture plaintext pre progress q rp rt ruby s samp script"
    " search section select slot small source span strike strong style sub summary sup svg table"
    " tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp"
)
# Elements whose content is not drawn. In those of the second set HTML is text, up to the end tag.
UNSEEN = _words("audio canvas datalist meter noscript object progress rp template video")
UNSEEN_TEXT = _words("iframe noembed noframes script style title")

# Attributes with a visible effect and values that can hold no words.
SIZES = _words("width height colspan rowspan start border cellpadding cellspacing value")
SIDES = _words("left right center justify top middle bottom baseline")
DIRECTIONS = _words("ltr rtl auto")
SWITCHES = _words("open checked disabled reversed controls")
ADDRESSES = _words("href src")

# Styles that keep an element from being drawn.
UNDRAWN = _words("display:none visibility:hidden visibility:collapse content-visibility:hidden")
UNDRAWN_AT_ZERO = _words("opacity font-size")
