"use strict";
// Everything on the page works without this script; it adds copying, a reading of the lane under the pointer or the
// focus, open folds in print, and shows the proof among its neighbours at once.
(() => {
  for (const button of document.querySelectorAll("button.copy")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        document.execCommand("copy");
      }
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }

  for (const log of document.querySelectorAll(".log")) {
    const proof = log.querySelector(".proof");
    if (proof) log.scrollTop = proof.offsetTop - log.offsetTop - log.clientHeight / 3;
  }

  for (const chart of document.querySelectorAll(".chart")) {
    const reading = document.createElement("p");
    reading.className = "reading";
    reading.textContent = "\u00a0";
    chart.after(reading);
    const tell = (event) => {
      const run = event.target.closest("a.run");
      const mark = event.target.closest("g");
      const title = run ? run.querySelector("title") : mark && mark.querySelector("title");
      reading.textContent = title ? title.textContent : "\u00a0";
    };
    chart.addEventListener("pointerover", tell);
    chart.addEventListener("focusin", tell);
  }

  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && target.closest("details");
    if (fold) {
      fold.open = true;
      target.scrollIntoView({ block: "center" });
    }
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) {
      if (fold.querySelectorAll("tr").length < 60) fold.open = true;
    }
  });
})();
