// What becomes of work that has failed: the end of the visit is told from everything else.
import { AnotherUserError, NotSignedInError } from './instance.js';
import { showNotice } from './view.js';

let endVisit;

/** Calls `work` with the error by which a request has found nobody, or another user, signed in. */
export function onEnd(work) {
  endVisit = work;
}

/** @returns tells the end of the session from other failures, which `fail` is for */
export function failing(fail) {
  return (error) => {
    const isEnd = error instanceof NotSignedInError || error instanceof AnotherUserError;
    return isEnd ? endVisit(error) : fail(error);
  };
}

/** @returns shows that something could not be loaded, with a button to try again */
export function showFailure(title, act, besides) {
  return ({ requestId }) => {
    const text = requestId ? 'tryLater' : 'checkConnection';
    showNotice({ title, text, button: 'tryAgain', act, requestId }, besides);
  };
}
