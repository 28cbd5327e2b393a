"""The page, in a real browser where there is one."""

import json
import re
import shutil
import subprocess

import pytest

from array_api_nx_conformance import page

from .samples import FLOOR_TEST, make_record, result, sample_records

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--virtual-time-budget=3000",
)  # fmt: skip
# Acts as a user does, and leaves in the page's title what is seen.
SCRIPT = """
const rows = () => [...document.querySelectorAll("tr[data-name]")].map((r) => r.dataset.name);
const set = (id, value) => {
  const input = document.getElementById(id);
  if (input.type === "checkbox") input.checked = value; else input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
};
const said = { all: rows(), wide: document.documentElement.scrollWidth > innerWidth };
set("chapter", "creation functions"); said.chapter = rows();
set("chapter", ""); set("verdict", "missing"); said.verdict = rows();
set("verdict", ""); set("search", "BROKEN"); said.message = rows();
set("search", "expm1"); said.nothing = rows();
set("search", ""); set("order", "standard"); said.standard = rows(); set("order", "failures");
set("verdict", "not run"); said.idle = rows(); set("verdict", "");
set("differ", true); said.differ = rows();
set("differ", false);
const button = document.querySelector("tr[data-name=exp] button");
button.focus();
button.click();
const detail = document.querySelector("tr.detail");
said.expanded = button.getAttribute("aria-expanded");
said.message_shown = detail.querySelector("pre.message").textContent;
said.repro = detail.querySelector("pre.repro").textContent;
detail.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
said.closed = document.querySelector("tr.detail") === null;
said.focus = document.activeElement === button;
document.querySelector("tr[data-name=full] button").click();
said.blocked = document.querySelector("tr.detail").textContent;
said.labels = [...document.querySelectorAll("input, select")].every((e) => e.labels.length === 1);
said.back = getComputedStyle(document.body).backgroundColor;
document.title = "said " + JSON.stringify(said);
"""


def browse(html, folder, *more):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium to look at the page with")
    file = folder / "page.html"
    file.write_text(html)
    done = subprocess.run(
        [browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}", *more, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def act(folder, *more):
    html = page.render(sample_records()).replace("</body>", f"<script>{{{SCRIPT}}}</script></body>")
    shown = browse(html, folder, "--dump-dom", *more)
    found = re.search(r"<title>said (.*?)</title>", shown, re.DOTALL)
    assert found is not None
    text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    said = json.loads(text)
    return said


def test_the_page_needs_nothing_else():
    html = page.render(sample_records())
    assert not re.search(r"https?://|<link|@import|src=|url\(", html)
    assert html.count("</script>") == 2  # the data cannot end its element
    assert "{{" not in html


def data_of(html):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_what_fails_comes_first():
    functions = data_of(page.render(sample_records()))["functions"]
    assert [(each["name"], each["group"]) for each in functions][:4] == [
        ("exp", "Fails"),
        ("fft.fft", "Missing"),
        ("full", "Blocked by what fails"),
        ("__floordiv__", "array object"),
    ]
    standard = sorted(functions, key=lambda each: int(each["position"]))
    assert [each["chapter"] for each in standard] == [
        *["array object"], *["elementwise functions"] * 4, *["creation functions"] * 3, "fft",
    ]  # fmt: skip


def test_a_permitted_deviation_has_no_script():
    message = "AssertionError: out=nan, but should be +infinity"
    permitted = result(FLOOR_TEST, "failed", message, repro="pass\n")
    failed = result("test_x.py::test_exp", "failed", "ValueError: v", repro="raise\n")
    (run,) = data_of(page.render([make_record(permitted, failed)]))["runs"]
    assert {test["verdict"]: test["repro"] for test in run["tests"]} == {
        "deviation": "",
        "fails": "raise\n",
    }


def test_a_user_at_the_page(tmp_path):
    said = act(tmp_path, "--window-size=1200,900")
    everything = {"__floordiv__", "equal", "exp", "floor_divide", "remainder", "zeros", "ones",
                  "full", "fft.fft"}  # fmt: skip
    assert isinstance(said["all"], list)
    assert set(said["all"]) == everything
    assert said["all"][:3] == ["exp", "fft.fft", "full"]  # fails, missing, blocked
    assert isinstance(said["standard"], list)
    assert said["standard"][0] == "__floordiv__"
    assert set(said["standard"]) == everything
    assert said["idle"] == ["__floordiv__", "equal", "ones"]
    assert said["chapter"] == ["full", "ones", "zeros"]
    assert said["verdict"] == ["fft.fft"]
    assert said["message"] == ["full"]
    assert said["nothing"] == []
    assert isinstance(said["differ"], list)
    assert set(said["differ"]) == everything - {"zeros"}
    assert said["expanded"] == "true"
    assert said["message_shown"] == "AssertionError: out=1 | 2 `x` </script>"
    assert said["repro"] == "import one as xp\n\nprint('<&>', xp.exp(1))\n"
    assert said["closed"] is True
    assert said["focus"] is True
    assert "Blocked by exp: fix that first." in str(said["blocked"])
    assert said["labels"] is True
    assert said["wide"] is False
    assert said["back"] == "rgb(255, 255, 255)"


def test_dark_mode(tmp_path):
    said = act(tmp_path, "--blink-settings=preferredColorScheme=0")
    assert said["back"] == "rgb(22, 23, 26)"


def test_a_phone(tmp_path):
    (tmp_path / "inner.html").write_text(page.render(sample_records()))
    # A frame, because a headless window is never as narrow as a phone.
    outer = (
        '<body><iframe id="f" src="inner.html" style="width:360px;height:700px"></iframe><script>'
        'document.getElementById("f").onload = (event) => {'
        " const inner = event.target.contentDocument;"
        ' document.title = "wide " + inner.documentElement.scrollWidth; }</script></body>'
    )
    shown = browse(outer, tmp_path, "--dump-dom", "--allow-file-access-from-files")
    assert "<title>wide 3" in shown  # 360 or less: nothing but the tables scrolls sideways


def test_a_screenshot(tmp_path):
    picture = tmp_path / "page.png"
    browse(page.render(sample_records()), tmp_path, f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000  # more than an empty page
