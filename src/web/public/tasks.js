// What the page has under way, by what it is about: a new one of its kind takes the place of the one before.
let underWay = {};

export function giveUp(kind) {
  underWay[kind]?.abort();
}

export function giveUpAll() {
  Object.keys(underWay).forEach(giveUp);
  underWay = {};
}

/**
 * Does what a control is for. What was under way of its kind is given up, so that a late answer cannot overwrite a newer
 * one.
 * @param fail called with what the work has thrown, unless it was given up
 * @returns {Promise<boolean>} whether it came to its end, good or bad
 */
export async function run(kind, work, fail, button) {
  if (button?.ariaDisabled === 'true') return false;
  giveUp(kind);
  const { signal } = (underWay[kind] = new AbortController());
  markBusy(button, true);
  try {
    await work(signal);
  } catch (error) {
    if (signal.aborted) return false;
    fail(error);
  } finally {
    markBusy(button, false);
  }
  return true;
}

/** The button, if there is one, keeps the focus, which a disabled one would lose. */
function markBusy(button, busy) {
  if (button !== undefined) button.ariaDisabled = String(busy);
}
