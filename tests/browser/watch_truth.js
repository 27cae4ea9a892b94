// Samples what the page says every 50 ms, and keeps each sentence that contradicts another.
(() => {
  const at = (id, within = document) => within.querySelector(`[data-testid="${id}"]`);
  const text = (element) => (element?.innerText ?? '').trim();
  window.truth = { samples: 0, lies: [] };
  const say = (lie, about) => window.truth.lies.push(`${lie}: ${about}`);
  const look = () => {
    window.truth.samples += 1;
    const live = at('status-chip')?.dataset.state === 'live';
    const card = at('route-card');
    const asked = new URLSearchParams(location.search).get('to');
    const stepFree = at('step-free')?.getAttribute('aria-checked') === 'true';
    const place = at('ask-kiosk');
    const from = place?.selectedOptions[0]?.text ?? '';
    if (!live && at('stays-current')) say('stays current, without a live service', text(card));
    if (!live && card && !at('route-as-of')) say('an old way without its age', text(card));
    if (asked === null && (card || at('no-route') || at('route-news'))) say('an answer to nothing', text(card));
    if (!card) return;
    if (card.dataset.goal !== asked) say('the answer to another goal', `${card.dataset.goal} for ${asked}`);
    if (card.dataset.stepFree !== String(stepFree)) say('step-free or not', text(card));
    const steps = [...card.querySelectorAll('[data-testid="route-step"]')];
    if (stepFree && steps.some((step) => step.dataset.kind === 'stairs')) say('stairs, step-free', text(card));
    if (steps[0] && !text(steps[0]).startsWith(`Start at ${from}`)) say('from elsewhere', `${text(steps[0])} for ${from}`);
    const last = steps.at(-1);
    const name = text(card.querySelector('h2'));
    if (last && !text(last).startsWith(`Arrive at ${name}`)) say('arrives elsewhere', `${text(last)} for ${name}`);
    for (const line of document.querySelectorAll('[data-testid="path"]')) {
      if (line.dataset.target !== card.dataset.target) say('a line to elsewhere', line.dataset.target);
    }
    const news = text(at('route-news')?.querySelector('p'));
    const told = news.match(/(?:Now|The way to) (.+?)(?:,| is now) /);
    if (told && told[1] !== name) say('news of another target', `${news} for ${name}`);
    const shape = at(`machine-${card.dataset.target}`);
    if (live && shape && card.dataset.goal.startsWith('free-machine:') && shape.dataset.state !== 'free') {
      say('led to a machine that is drawn as not free', `${name} ${shape.dataset.state}`);
    }
  };
  setInterval(look, 50);
})();
