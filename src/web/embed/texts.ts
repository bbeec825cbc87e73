// What is said where no page of the instance can say it.
import type { Appearance } from './options.js';

const EN = {
  loading: 'Loading …',
  again: 'Try again',
  reference: 'Reference:',
  /** By the word of the failure. */
  failures: {
    unreachable: 'Not available at the moment.',
    no_session: 'Your browser did not keep the sign-in. Allow cookies for this page, then try again.',
    another_user: 'Another user has signed in with this browser.',
    too_many_requests: 'There were too many sign-ins within a short time. Try again in a minute.',
    user_disabled: 'Your access has been switched off. Ask your administrator.',
  } as Record<string, string>,
  /** Of the words that are not among them. */
  refused: 'You could not be signed in. If that does not change, contact support.',
};

const DE: typeof EN = {
  loading: 'Wird geladen …',
  again: 'Erneut versuchen',
  reference: 'Referenznummer:',
  failures: {
    unreachable: 'Zurzeit nicht verfügbar.',
    no_session:
      'Ihr Browser hat die Anmeldung nicht gespeichert. Erlauben Sie Cookies für diese Seite und versuchen Sie es erneut.',
    another_user: 'In diesem Browser hat sich eine andere Person angemeldet.',
    too_many_requests: 'Zu viele Anmeldungen in kurzer Zeit. Versuchen Sie es in einer Minute erneut.',
    user_disabled: 'Ihr Zugang ist gesperrt. Wenden Sie sich an Ihre Administration.',
  },
  refused: 'Sie konnten nicht angemeldet werden. Wenn das so bleibt, wenden Sie sich an den Support.',
};

export function textsIn({ lang = '' }: Appearance): typeof EN {
  return /^de\b/i.test(lang) ? DE : EN;
}
