// A frame that is as high as its page, which the host page scrolls.

export class FrameHeight {
  /** Where the host page was scrolled to when the list was left, and whether it is to be there again. */
  #place = { top: 0, isDue: false };

  /** The page in the frame is about to show a part of itself that is higher or lower. */
  follow(frame: HTMLIFrameElement, before: string, path: string): void {
    const isList = !path.includes('#');
    if (!isList && !before.includes('#')) this.#place.top = scrollY;
    this.#place.isDue = isList;
    if (!isList && frame.getBoundingClientRect().top < 0) frame.scrollIntoView();
  }

  fit(frame: HTMLIFrameElement, height: number): void {
    if (height === 0) return;
    frame.style.height = `${height}px`;
    if (this.#place.isDue) scrollTo(scrollX, this.#place.top);
    this.#place.isDue = false;
  }
}
