"""Reads HTML that is shown to users, which must be well formed."""

from html.parser import HTMLParser

__all__ = ["Page", "page"]

_VOID = {"br", "hr", "img", "link", "meta"}


class Page(HTMLParser):
    """The names of the elements in order, and the text with neither marks nor line ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        opened = self._open.pop()
        assert tag == opened, f"</{tag}> closes <{opened}>"

    def handle_data(self, data: str) -> None:
        self.text += data.replace("\u00a0", " ")

    def close(self) -> None:
        super().close()
        assert not self._open, f"not closed: {self._open}"


def page(text: str) -> Page:
    """The page that `text` is."""
    found = Page()
    found.feed(text)
    found.close()
    return found
