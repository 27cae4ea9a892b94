// Notes, inside the page, when a frame of an epoch arrived and when a machine's shape was repainted.
(() => {
  const nowMs = () => performance.timeOrigin + performance.now();
  window.benchFrames = [];
  window.benchPaints = [];
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (event) => {
        const message = JSON.parse(event.data);
        if (message.type === "delta") window.benchFrames.push([message.epoch, nowMs()]);
      });
    }
  };
  const observe = () =>
    new MutationObserver((records) => {
      const shapes = records.filter((r) => r.target.dataset?.testid?.startsWith("machine-"));
      if (!shapes.length) return;
      // The first callback runs before the paint of this frame, the second after it.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          const at = nowMs();
          for (const { target } of shapes)
            window.benchPaints.push([target.dataset.testid.slice(8), target.dataset.state, at]);
        }),
      );
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state"] });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", observe);
  else observe();
})();
