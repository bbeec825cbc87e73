// A search box that leads to a person's refusals or to a request.
import { call } from './api.js';
import { Field, Form } from './form.js';
import { textIn } from './form-data.js';
import { address, goTo } from './navigation.js';
import { addressOf } from './trail-search.js';

/** The format of the service's request ids. */
const REQUEST_ID = /^[0-9a-z]{20}$/;

export function FindBox() {
  return (
    <Form button="Find out" search="find" send={(data) => placeOf(textIn(data, 'what'))} done={goTo}>
      <Field
        name="what"
        label="Why can somebody not sign in?"
        type="search"
        required
        hint="An e-mail address, a sub, the id of a user, an issuer, or the reference (request id) of an error page or answer."
      />
    </Form>
  );
}

/** The address that answers the input. It never contains an e-mail address or a `sub`. */
async function placeOf(text: string): Promise<string> {
  if (!text.includes('@')) {
    if (/^https?:/i.test(text)) return `#/refusals?${new URLSearchParams({ issuer: text })}`;
    const { data } = await call('POST /events/search', { body: { requestId: text, limit: 1 } });
    if (data.length > 0 || REQUEST_ID.test(text)) return address('#/requests/?', text);
  }
  return addressOf('refusals', { user: text, hours: '168' });
}
