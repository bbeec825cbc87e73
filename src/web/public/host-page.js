// Talks with the host page, which holds this frame. Of the session it talks with the origin that posted the login only.

let hostOrigin = null;
/** Whether it is known by now who is signed in, or that nobody is. */
let isLoaded = false;
/** The origins that have greeted, and whether they can be asked for another login. */
const askers = new Map();
/** Whether the height says nothing of who is signed in, so that all who greet may hear it. */
let isHeightPublic = false;
const requests = new Map();
let onGreeting = () => undefined;

/** @param {string | null} origin the one that the session was opened from; null: nobody is talked with */
export function meetHostPage(origin) {
  hostOrigin = origin;
}

/**
 * The browser delivers it only if the page around this one is of that origin.
 * @param {string | null} [origin] that of the present session's login, unless another is given
 */
export function tellHostPage(type, detail, origin = hostOrigin) {
  if (origin !== null && parent !== window) parent.postMessage({ type, ...detail }, origin);
}

/** Calls `work` when the host page asks for something. */
export function onHostPageRequest(type, work) {
  requests.set(type, work);
}

/** Calls `work` when a page around this one has greeted. */
export function onHostPageGreeting(work) {
  onGreeting = work;
}

/** Whether the page around this one has said that it can sign the visitor in again. */
export function canAskForLogin() {
  return [...askers.values()].includes(true);
}

/** Says that the visitor wants to go on. */
export function askForLogin() {
  for (const [origin, canRetry] of askers) if (canRetry) tellHostPage('retry', {}, origin);
}

/**
 * Tells those who greet, once, that all is told that they are to know: who has heard of no session will hear of none. Not to be called by
 * a look whose place another one has taken: nothing is known then.
 */
export function tellLoaded() {
  if (isLoaded) return;
  isLoaded = true;
  for (const origin of askers.keys()) greet(origin);
}

/** Says how high the page is whenever that changes. */
export function followHeight({ isPublic }) {
  isHeightPublic = isPublic;
  new ResizeObserver(tellHeight).observe(document.documentElement);
}

/** Says how high the page is, if it has a box: a frame that is not displayed has none. */
export function tellHeight() {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  if (height === 0 || parent === window) return;
  const others = isHeightPublic ? askers.keys() : [];
  for (const origin of hostOrigin === null ? others : [hostOrigin])
    tellHostPage('resize', { height }, origin);
}

/** The same for everybody, whoever is signed in: it says no more than that a page of the instance is here. */
function greet(origin) {
  tellHostPage(isLoaded ? 'page-loaded' : 'page-loading', {}, origin);
}

addEventListener('message', ({ origin, source, data }) => {
  if (source !== parent || parent === window) return;
  // Nothing can be told to a page without an origin, such as a file.
  if (data?.type === 'hello' && origin !== 'null') {
    askers.set(origin, data.canRetry === true);
    greet(origin);
    onGreeting();
    if (isHeightPublic) tellHeight();
  }
  if (origin === hostOrigin) requests.get(data?.type)?.(data);
});
