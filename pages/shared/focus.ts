// Keeps the keyboard focus in a page whose controls appear and disappear.

/**
 * If the focused control disappears, another element takes the focus. Nothing else moves it, because the host page may have it.
 * @param next the element that takes the focus
 */
export function keepFocus(root: Element, next: () => HTMLElement | null): void {
  let focused: Element | null = null;
  const isLost = () =>
    focused !== null && (!focused.isConnected || focused.closest('[hidden], [inert]') !== null);
  root.addEventListener('focusin', ({ target }) => (focused = target as Element));
  root.addEventListener('focusout', () =>
    queueMicrotask(() => isLost() || (focused = document.activeElement)),
  );
  new MutationObserver(() => {
    if (!isLost() || !document.hasFocus()) return;
    focused = null;
    next()?.focus({ preventScroll: true });
  }).observe(root, { subtree: true, childList: true, attributeFilter: ['hidden', 'inert'] });
}
