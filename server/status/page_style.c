/* SPDX-License-Identifier: Apache-2.0 */
/* Style and script of the pages. Colours keep a contrast of 4.5 for words and of 3 for what
 * is drawn, on light and on dark ground. The script has none of the characters that XML would read,
 * so that the page is well-formed; where it cannot run, the page is as it was when it was loaded.
 */
#include "server/status/page_frame.h"

#include "server/base/banned.h"

/* Tables of this class have no columns: each cell is below the one before, behind the title of its
 * column. */
// clang-format off
#define ROWS_AS_LISTS(class)                                                                  \
    class " thead," class " td:empty{display:none}"                                           \
    class " :is(table,tbody,tr,caption){display:block}"                                       \
    class " tr{padding:.4rem 0;border-bottom:1px solid var(--edge)}"                          \
    class " :is(th,td){display:flow-root;min-width:0;padding:.1rem 0;border:0;"               \
          "white-space:normal;text-align:right;overflow-wrap:anywhere}"                       \
    class " tr th{text-align:left;font-weight:600}"                                           \
    class " td[data-label]::before{content:attr(data-label)}"                                 \
    class " td.bar{width:auto}"
// clang-format on

const char page_style[] =
    ":root{color-scheme:light dark;--ground:#fff;--panel:#f5f7f9;--ink:#1a1f24;--soft:#515a63;"
    "--edge:#cbd2d9;--grid:#d5dbe1;--s1:#1f6fc4;--s2:#b65c00;--s3:#b3263b;--s4:#5d6771;"
    "--good:#1a6e32;--bad:#b3261e}\n"
    "@media (prefers-color-scheme:dark){:root{--ground:#13171b;--panel:#1b2127;--ink:#e7eaee;"
    "--soft:#aab4bd;--edge:#3d474f;--grid:#343c44;--s1:#5aa9f5;--s2:#f0a04b;--s3:#f2788a;"
    "--s4:#98a3ad;--good:#7ed492;--bad:#ff9d94}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:75rem;background:var(--ground);color:var(--ink);"
    "font:100%/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem;margin:0}\nh2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
    "p{margin:.35rem 0}\n"
    ".soft,.words,dt,caption,.times,.legend,.plot span{color:var(--soft);font-size:.85rem}\n"
    "code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}\n"
    ".good{color:var(--good);font-weight:600}\n.bad strong{color:var(--bad)}\n"
    "#state ul{margin:.25rem 0;padding-left:1.2rem}\n"
    "dl.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.6rem;"
    "margin:1rem 0}\n"
    "dl.cards div{background:var(--panel);border:1px solid var(--edge);border-radius:.4rem;"
    "padding:.5rem .7rem}\n"
    "dl.cards dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}\n"
    "dl.cards dd.words{font-size:.8rem}\n"
    ".table{overflow-x:auto;margin:.8rem 0}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding-bottom:.3rem}\n"
    "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--edge);text-align:right;"
    "vertical-align:top;font-weight:400;white-space:nowrap}\n"
    "thead th{color:var(--soft);font-size:.85rem;vertical-align:bottom;border-bottom-width:2px;"
    "white-space:normal}\n"
    "th:first-child,td.left,th.left{text-align:left;white-space:normal;min-width:4rem}th:first-"
    "child{min-width:9rem}\n"
    "td::before{float:left;margin-right:1rem;color:var(--soft)}\n"
    "td.bar{width:15%;min-width:3rem}\ntd.bar svg{display:block;width:100%;height:.9rem}\n"
    ".pictures{display:grid;gap:1.2rem;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,max(22rem,40%)),1fr))}\n"
    "figure{margin:0;min-width:0}\nfigcaption{font-weight:600;font-size:.95rem}\n"
    ".plot{position:relative;height:9rem;margin-top:1.2rem}\n"
    ".plot svg{display:block;width:100%;height:100%;background:var(--panel)}\n"
    ".plot span{position:absolute;left:.25rem;pointer-events:none}\n"
    ".plot .top{top:-1.2rem}\n"
    ".plot .middle{top:calc(50% - .65rem);padding:0 "
    ".3rem;background:var(--ground);border-radius:.3rem}\n"
    ".times{display:flex;justify-content:space-between}\n"
    ".legend{list-style:none;margin:.2rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1rem}\n"
    ".key{width:.8rem;height:.8rem;margin-right:.35rem}\n"
    ".grid{stroke:var(--grid);fill:none;vector-effect:non-scaling-stroke}\n"
    ".line{fill:none;stroke:currentColor;stroke-width:2;vector-effect:non-scaling-stroke}\n"
    ".s1{color:var(--s1)}.s2{color:var(--s2)}.s3{color:var(--s3)}.s4{color:var(--s4)}\n"
    ".area{fill:currentColor}\n"
    ".hour{fill:transparent}\n.hour:hover{fill:var(--ink);fill-opacity:.1}\n"
    "details{margin-top:.8rem}\nsummary{cursor:pointer}\n"
    "button{font:inherit;padding:.15rem .8rem;margin-left:.6rem}\n"
    "nav{display:flex;gap:1rem;margin:.4rem 0}nav strong{border-bottom:2px solid var(--s1)}"
    "a{color:var(--s1)}\n"
    "@media (max-width:50rem){body{padding:.6rem}" ROWS_AS_LISTS(
        ".wide") "}\n"
                 "@media (max-width:36rem){" ROWS_AS_LISTS(".medium") "}\n";

const char page_script[] =
    "(function () {\n"
    "  'use strict';\n"
    "  var every = 10000, paused = false, note = document.getElementById('live');\n"
    "  var words = document.createElement('span'), button = document.createElement('button');\n"
    "  function say(text) { if (words.textContent !== text) words.textContent = text; }\n"
    "  function show() {\n"
    "    button.textContent = paused ? 'Go on' : 'Pause';\n"
    "    say(paused ? 'The figures stand still.' : 'New figures come every 10 s.');\n"
    "  }\n"
    "  function selects() {\n"
    "    var selection = window.getSelection();\n"
    "    return selection ? !selection.isCollapsed : false;\n"
    "  }\n"
    "  function swap(text) {\n"
    "    var page = new DOMParser().parseFromString(text, 'text/html');\n"
    "    var fresh = page.querySelector('main'), old = document.querySelector('main');\n"
    "    if (!fresh) throw new Error('no figures');\n"
    "    if (paused ? true : selects()) return;\n"
    "    old.querySelectorAll('details[open]').forEach(function (open) {\n"
    "      var same = fresh.querySelector('#' + open.id);\n"
    "      if (same) same.open = true;\n"
    "    });\n"
    "    var focus = document.activeElement, id = '';\n"
    "    if (focus) if (focus.parentNode) if (old.contains(focus)) id = focus.parentNode.id;\n"
    "    old.replaceWith(document.adoptNode(fresh));\n"
    "    var again = id ? document.querySelector('#' + id + ' summary') : null;\n"
    "    if (again) again.focus();\n"
    "    document.title = page.title;\n"
    "    show();\n"
    "  }\n"
    "  function turn() {\n"
    "    if (paused ? true : document.hidden) return window.setTimeout(turn, every);\n"
    "    fetch(window.location.href, {cache: 'no-store'}).then(function (answer) {\n"
    "      if (!answer.ok) throw new Error('status ' + answer.status);\n"
    "      return answer.text();\n"
    "    }).then(swap).catch(function () {\n"
    "      if (!paused) say('The server does not answer; these are the last figures.');\n"
    "    }).then(function () { window.setTimeout(turn, every); });\n"
    "  }\n"
    "  if (!window.fetch) return;\n"
    "  button.type = 'button';\n"
    "  button.addEventListener('click', function () { paused = !paused; show(); });\n"
    "  note.textContent = '';\n"
    "  note.append(words, button);\n"
    "  show();\n"
    "  window.setTimeout(turn, every);\n"
    "}());\n";
