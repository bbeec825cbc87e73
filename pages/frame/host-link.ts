// The page's end of the messages with its host page: of one origin, which the address of the frame names.
import { signal } from '@preact/signals';
import type { HostSettings, MessageFromPage, MessageToPage } from '../protocol.js';

const ALONE: Omit<HostSettings, 'look'> = { canRetry: false, retries: false, showsFailures: true };

export class HostLink {
  readonly settings = signal(ALONE);

  /** @param origin browsers deliver nothing to a page of another origin */
  constructor(readonly origin: string) {}

  tell(message: MessageFromPage): void {
    if (parent !== window) parent.postMessage(message, this.origin);
  }

  /** Other windows, and pages of other origins, are not heard. */
  listen(hear: (message: MessageToPage) => void): void {
    addEventListener('message', ({ origin, source, data }: MessageEvent<MessageToPage | undefined>) => {
      if (source === parent && parent !== window && origin === this.origin && data?.type !== undefined)
        hear(data);
    });
  }

  /** Tells how high the page is, at each change. A frame that is not displayed has no height. */
  followHeight(): void {
    new ResizeObserver(() => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      if (height > 0) this.tell({ type: 'resize', height });
    }).observe(document.documentElement);
  }

  /** The address of a path for another tab: within the host page, if it has told how. */
  addressOf(path: string): string {
    const { linkTemplate = '' } = this.settings.value;
    if (!/^https?:\/\//i.test(linkTemplate)) return path.slice(1) || '#';
    return linkTemplate.replace('{path}', () => encodeURIComponent(path));
  }
}
