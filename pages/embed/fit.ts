// The frame's height, and the host page's scroll position with `height="auto"`.

/** How long the scroll position may still be restored after a return to the list of workflows. */
const RETURN_MS = 3000;
/** Gestures that stop the restoring, because the visitor scrolls. */
const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

export interface Bounds {
  height?: 'auto';
  minHeight?: number;
  maxHeight?: number;
}

export class Fit {
  #height = 0;
  #isHidden = false;
  /** The host page's scroll position when the visitor left the list, and whether it is being restored. */
  #top = 0;
  #isReturning = false;
  #timer = 0;

  constructor(
    private readonly frame: HTMLIFrameElement,
    private readonly bounds: Bounds,
  ) {
    for (const name of GESTURES) addEventListener(name, this.#stay, { passive: true });
  }

  /** A hidden frame keeps its layout, because Chromium may never paint a page that loads in a frame without layout. */
  set isHidden(isHidden: boolean) {
    this.#isHidden = isHidden;
    this.frame.style.visibility = isHidden ? 'hidden' : '';
    this.frame.style.position = isHidden ? 'absolute' : '';
    this.apply();
  }

  /** Saves the scroll position when the page leaves the list, and restores it when the page returns there. */
  follow(before: string, path: string): void {
    if (this.bounds.height !== 'auto') return;
    const [wasList, isList] = [before, path].map((one) => !one.includes('workflow='));
    if (wasList === isList) return;
    if (isList) {
      this.#isReturning = true;
      // If the visitor returns before the browser lays out the page, the page reports no new height.
      scrollTo(scrollX, this.#top);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#stay, RETURN_MS);
    } else {
      this.#stay();
      this.#top = scrollY;
      if (this.frame.getBoundingClientRect().top < 0) this.frame.scrollIntoView();
    }
  }

  /** @param height the page's height in CSS pixels; 0, which is ignored, if the page has no layout */
  resize(height: number): void {
    if (height === 0) return;
    this.#height = height;
    this.apply();
    if (!this.#isReturning) return;
    scrollTo(scrollX, this.#top);
    if (Math.abs(scrollY - this.#top) < 2) this.#isReturning = false;
  }

  apply(): void {
    const { height, minHeight = 0, maxHeight = Infinity } = this.bounds;
    const isFitted = height === 'auto' && this.#height > 0;
    const fitted = Math.max(minHeight, Math.min(maxHeight, this.#height));
    this.frame.style.height = this.#isHidden ? '0' : isFitted ? `${fitted}px` : '';
  }

  remove(): void {
    clearTimeout(this.#timer);
    for (const name of GESTURES) removeEventListener(name, this.#stay);
  }

  readonly #stay = () => {
    this.#isReturning = false;
  };
}
