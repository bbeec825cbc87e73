// The notices that replace the list or stand above it, each with its one action.
import type { Failure } from '../protocol.js';
import type { NoticeProps } from '../shared/states.js';
import type { Model } from './model.js';
import type { End } from './visit.js';
import { words } from './words.js';

/** Errors that look the same to the visitor and may pass. */
const UNAVAILABLE = [
  'unreachable',
  'timeout',
  'temporarily_unavailable',
  'internal_error',
  'not_enabled',
  'not_found',
  'no_token',
];

/** Something could not be loaded. */
export function failureNotice(title: string, { requestId }: Failure, act: () => void): NoticeProps {
  const { tryLater, checkConnection, tryAgain } = words();
  const text = requestId === undefined ? checkConnection : tryLater;
  return { title, text, reference: referenceOf(requestId), button: { label: tryAgain, act } };
}

/** The notice about the session; undefined if there is none. */
export function visitNotice(model: Model): NoticeProps | undefined {
  const { phase } = model.visit;
  const text = words();
  switch (phase.value.kind) {
    case 'nobody':
      return { title: text.notSignedInTitle, ...wayOn(model) };
    case 'ended':
      return endNotice(phase.value.reason, model);
    case 'failed':
      return failedNotice(phase.value.failure, model);
    default:
      return undefined;
  }
}

function endNotice(reason: End, model: Model): NoticeProps {
  const text = words();
  if (reason === 'another-user') {
    const button = { label: text.reload, act: () => location.reload() };
    return { title: text.anotherTitle, text: text.anotherText, button };
  }
  const titles = { 'signed-out': text.signedOutTitle, 'signed-out-by-provider': text.providerTitle };
  const title = reason in titles ? titles[reason as keyof typeof titles] : text.endedTitle;
  return { title, ...wayOn(model) };
}

/** The action that leads to another login, in the host page or by the visitor. */
function wayOn({ retry, retries }: Model): Pick<NoticeProps, 'text' | 'button'> {
  const { goOn, openFromProduct, triedAgain } = words();
  if (retry === undefined) return { text: openFromProduct };
  return { ...(retries && { text: triedAgain }), button: { label: goOn, act: retry } };
}

function failedNotice(failure: Failure, model: Model): NoticeProps | undefined {
  const { showsFailures, start } = model;
  if (start !== undefined) return failureNotice(words().failureTitle, failure, () => void start());
  return showsFailures ? loginNotice(failure, model) : undefined;
}

function loginNotice({ error, requestId }: Failure, { retry, retries }: Model): NoticeProps {
  const text = words();
  const isUnavailable = UNAVAILABLE.includes(error);
  const advice: Record<string, string> = {
    user_disabled: text.failedDisabled,
    too_many_requests: text.failedOften,
  };
  const causes = advice[error] ?? (isUnavailable ? '' : text.failedText);
  return {
    title: isUnavailable ? text.unavailableTitle : text.failedTitle,
    text: [causes, retries ? text.triedAgain : ''].filter(Boolean).join(' ') || undefined,
    reference: referenceOf(requestId),
    button: retry && { label: text.tryAgain, act: retry },
  };
}

function referenceOf(id: string | undefined): NoticeProps['reference'] {
  return id === undefined ? undefined : { label: words().forSupport, id };
}
