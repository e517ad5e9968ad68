"use strict";
// Shows what a sample was made of: the one nearest to the pointer, or the one the arrow keys have reached.
// Everything a guest, a file or a user has named is put in as text, never as markup.
(() => {
  const COLOURS = 7;
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");
  const ring = document.getElementById("ring");

  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // The sample that is shown on each plot, so that the keys go on from there.
  const reached = data.plots.map(() => ({ run: 0, place: 0 }));

  function describe(plot, run, point) {
    const parts = [
      element("p", "what", `${plot.name} ${point.number} · ${data.runs[run]}`),
      element("p", "duration", point.duration + (point.unfinished ? ", never finished" : "")),
    ];
    if (point.error !== undefined) parts.push(element("p", "error", `failed: ${point.error}`));
    if (point.phases.length > 0) {
      const bar = element("div", "bar");
      const list = element("ul", "phases");
      for (const [name, share, duration] of point.phases) {
        const colour = `phase${name % COLOURS}`;
        const part = element("span", colour);
        part.style.width = `${share}%`;
        bar.append(part);
        const line = element("li", "");
        line.append(element("span", `swatch ${colour}`), element("span", "name", plot.phases[name]));
        line.append(element("span", "time", duration));
        list.append(line);
      }
      if (point.more > 0) list.append(element("li", "what", `and ${point.more} more phases`));
      parts.push(bar, list);
    }
    tip.replaceChildren(...parts);
  }

  function show(surface, run, place) {
    const plot = data.plots[surface.dataset.plot];
    const point = plot.series[run][place];
    reached[surface.dataset.plot] = { run, place };
    ring.setAttribute("cx", point.x);
    ring.setAttribute("cy", point.y);
    describe(plot, run, point);
    tip.hidden = false;
    // Beside the sample, on the side that has room.
    const at = new DOMPoint(point.x, point.y).matrixTransform(surface.getScreenCTM());
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const room = document.documentElement;
    const left = at.x + 18 + width < room.clientWidth ? at.x + 18 : at.x - 18 - width;
    const top = Math.min(at.y - 24, room.clientHeight - height - 8);
    tip.style.left = `${Math.max(4, left) + scrollX}px`;
    tip.style.top = `${Math.max(4, top) + scrollY}px`;
  }

  function hide() {
    tip.hidden = true;
    ring.setAttribute("cx", -99);
    ring.setAttribute("cy", -99);
  }

  function nearest(surface, event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(surface.getScreenCTM().inverse());
    let best;
    data.plots[surface.dataset.plot].series.forEach((points, run) =>
      points.forEach((point, place) => {
        const distance = (point.x - at.x) ** 2 + (point.y - at.y) ** 2;
        if (best === undefined || distance < best.distance) best = { run, place, distance };
      }),
    );
    return best;
  }

  function step(surface, key) {
    const series = data.plots[surface.dataset.plot].series;
    const { run, place } = reached[surface.dataset.plot];
    const last = series[run].length - 1;
    switch (key) {
      case "ArrowLeft":
        return { run, place: Math.max(0, place - 1) };
      case "ArrowRight":
        return { run, place: Math.min(last, place + 1) };
      case "Home":
        return { run, place: 0 };
      case "End":
        return { run, place: last };
      case "ArrowUp":
      case "ArrowDown": {
        // The next run that has samples, at the same number or the last before it.
        const way = key === "ArrowUp" ? -1 : 1;
        const number = series[run][place].number;
        for (let next = run + way; next >= 0 && next < series.length; next += way) {
          const before = series[next].findLastIndex((point) => point.number <= number);
          if (series[next].length > 0) return { run: next, place: Math.max(0, before) };
        }
        return { run, place };
      }
    }
  }

  for (const surface of document.querySelectorAll(".surface")) {
    const series = data.plots[surface.dataset.plot].series;
    const first = series.findIndex((points) => points.length > 0);
    if (first < 0) continue;
    reached[surface.dataset.plot] = { run: first, place: 0 };
    const point = (event) => {
      const { run, place } = nearest(surface, event);
      show(surface, run, place);
    };
    surface.addEventListener("pointermove", point);
    surface.addEventListener("pointerdown", point);
    surface.addEventListener("pointerleave", hide);
    surface.addEventListener("blur", hide);
    surface.addEventListener("focus", () => {
      if (!surface.matches(":focus-visible")) return;
      const { run, place } = reached[surface.dataset.plot];
      show(surface, run, place);
    });
    surface.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      const next = step(surface, event.key);
      if (next === undefined) return;
      event.preventDefault();
      show(surface, next.run, next.place);
    });
  }
})();
