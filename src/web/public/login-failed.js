// Runs on the page of a refused login: tells the host page the word at once, and people in their language what to do.
import { appearanceInAddress, wear } from './appearance.js';
import { followHeight, meetHostPage, tellHostPage, tellLoaded } from './host-page.js';
import { write, writeAll } from './words.js';

/** What people can do about it, where it is something else than asking. */
const ADVICE = new Map([
  ['token_replayed', 'failedAgain'],
  ['token_expired', 'failedAgain'],
  ['remaining_lifetime_too_short', 'failedAgain'],
  ['user_disabled', 'failedDisabled'],
  ['too_many_requests', 'failedOften'],
  ['not_enabled', 'failedOff'],
  ['not_found', 'failedOff'],
]);

const { word, request, retry, host } = document.documentElement.dataset;
meetHostPage(host || null);
tellHostPage('login-failed', {
  error: word,
  requestId: request,
  ...(retry && { retryAfterSeconds: Number(retry) }),
});
tellLoaded();

wear(appearanceInAddress());
writeAll();
write(document.getElementById('text'), ADVICE.get(word) ?? 'failedText');
followHeight({ isPublic: true });
