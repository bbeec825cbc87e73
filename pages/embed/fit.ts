// The frame's height, and the host page's scroll position with `height="auto"`.

/** The longest wait for the list's height when the visitor returns to it. */
const RETURN_MS = 3000;
/** Gestures after which the visitor decides the scroll position. */
const GESTURES = ['wheel', 'touchmove', 'keydown', 'pointerdown'];

export interface Bounds {
  height?: 'auto';
  minHeight?: number;
  maxHeight?: number;
}

export class Fit {
  #height = 0;
  #isHidden = false;
  /** The scroll position of the list, and whether the host page is to return to it. */
  #top = 0;
  #isReturning = false;
  #timer = 0;

  constructor(
    private readonly frame: HTMLIFrameElement,
    private readonly bounds: Bounds,
  ) {
    for (const name of GESTURES) addEventListener(name, this.#stay, { passive: true });
  }

  /** A hidden frame keeps its layout, because Chromium may never paint a page that loads in a frame without one. */
  set isHidden(isHidden: boolean) {
    this.#isHidden = isHidden;
    this.frame.style.visibility = isHidden ? 'hidden' : '';
    this.frame.style.position = isHidden ? 'absolute' : '';
    this.apply();
  }

  /** The page is about to show another path. */
  follow(before: string, path: string): void {
    if (this.bounds.height !== 'auto') return;
    const [wasList, isList] = [before, path].map((one) => !one.includes('workflow='));
    if (wasList === isList) return;
    if (isList) {
      this.#isReturning = true;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#stay, RETURN_MS);
    } else {
      this.#stay();
      this.#top = scrollY;
      if (this.frame.getBoundingClientRect().top < 0) this.frame.scrollIntoView();
    }
  }

  /** @param height the page's, in CSS pixels; 0 if it has no box */
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
