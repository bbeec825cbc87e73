// What the page has under way, by what it is about: a new one of its kind takes the place of the one before.
import { isBusy, markBusy } from './view.js';

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
 * @returns {Promise<boolean>} whether it came to its end
 */
export async function run(kind, work, fail, button) {
  if (isBusy(button)) return false;
  giveUp(kind);
  const { signal } = (underWay[kind] = new AbortController());
  markBusy(button, true);
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted) fail(error);
  } finally {
    markBusy(button, false);
  }
  return !signal.aborted;
}
