// Frames in the host page, posts into them, and the texts that are shown where no page of the instance can show them.

const TEXTS: Record<string, [loading: string, failed: string, reason: string, retry: string]> = {
  en: ['Loading …', 'Not available at the moment.', 'Reason:', 'Try again'],
  de: ['Wird geladen …', 'Zurzeit nicht verfügbar.', 'Grund:', 'Erneut versuchen'],
};
let frameCount = 0;

/** A form finds its frame by name, so no two frames of a page may share one. */
function named(frame: HTMLIFrameElement): HTMLIFrameElement {
  frame.name = `embedded-instance-${++frameCount}`;
  return frame;
}

function newFrame(properties: object): HTMLIFrameElement {
  return named(Object.assign(document.createElement('iframe'), properties));
}

function addHiddenFrame(): HTMLIFrameElement {
  const frame = newFrame({ hidden: true });
  document.body.append(frame);
  return frame;
}

/** Some browsers report that an empty frame has loaded; a document of another origin cannot be read. */
function isBlank({ contentWindow }: HTMLIFrameElement): boolean {
  try {
    return contentWindow?.location.href === 'about:blank';
  } catch {
    return false;
  }
}

function postInto(target: string, action: string, fields: Record<string, unknown>): void {
  const form = document.createElement('form');
  Object.assign(form, { method: 'post', action, target });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  }
  document.body.append(form);
  form.submit();
  form.remove();
}

function textsIn({ lang = '' }: Appearance) {
  return TEXTS[lang.slice(0, 2)] ?? TEXTS['en']!;
}

/** Writes into an empty frame that its page is loading. */
function drawLoading({ contentDocument }: HTMLIFrameElement, appearance: Appearance): void {
  const { lang = '', theme = 'auto' } = appearance;
  const { documentElement: root, body } = contentDocument!;
  root.lang = lang;
  root.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  body.style.cssText = 'font:1rem system-ui;text-align:center;margin:3rem';
  body.role = 'status';
  [body.textContent] = textsIn(appearance);
}

/** Says that the instance did not answer; with a button where `retry` is given. */
function failureCard(error: string, appearance: Appearance, retry: (() => void) | undefined): HTMLElement {
  const [, failed, reason, again] = textsIn(appearance);
  const card = document.createElement('div');
  card.role = 'alert';
  card.style.cssText = 'text-align:center;line-height:2;padding:1.5rem;border:1px solid';
  card.append(failed, document.createElement('br'), `${reason} ${error}`);
  if (retry) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: again });
    button.onclick = retry;
    card.append(document.createElement('br'), button);
  }
  return card;
}
