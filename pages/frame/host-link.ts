// Exchanges messages with the host page. The frame's address names the host page's origin.
import { signal } from '@preact/signals';
import type { HostSettings, MessageFromPage, MessageToPage } from '../protocol.js';

const ALONE: Omit<HostSettings, 'look'> = { canRetry: false, retries: false, showsFailures: true };

export class HostLink {
  readonly settings = signal(ALONE);

  /** @param origin the host page's origin; browsers deliver nothing to another one */
  constructor(readonly origin: string) {}

  tell(message: MessageFromPage): void {
    if (parent !== window) parent.postMessage(message, this.origin);
  }

  /** Ignores other windows and other origins. */
  listen(hear: (message: MessageToPage) => void): void {
    addEventListener('message', ({ origin, source, data }: MessageEvent<MessageToPage | undefined>) => {
      if (source === parent && parent !== window && origin === this.origin && data?.type !== undefined)
        hear(data);
    });
  }

  /** Reports the page's height at each change. A frame that is not displayed has no height. */
  followHeight(): void {
    new ResizeObserver(() => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      if (height > 0) this.tell({ type: 'resize', height });
    }).observe(document.documentElement);
  }

  /** The address of a path for another tab: in the host page, if it has given a template. */
  addressOf(path: string): string {
    const { linkTemplate = '' } = this.settings.value;
    if (!/^https?:\/\//i.test(linkTemplate)) return path.slice(1) || '#';
    return linkTemplate.replace('{path}', () => encodeURIComponent(path));
  }
}
