// The sign-in of the operator's pages in a browser: by password and by code, its refusals, its end, and its return to the earlier page.
import { describeInBrowser } from '../../support/browser.js';
import { createUser } from '../../support/local-users.js';
import { ADMIN, OperatorBrowsing, OWNER } from '../../support/operator-browsing.js';
import { makeCode, PASSWORD } from '../../support/operators.js';
import { TestClock } from '../../support/test-clock.js';

const WRONG = 'a password that nobody has';
const HOUR_SECONDS = 3_600;

describeInBrowser("the operator's sign-in", () => {
  const clock = new TestClock();
  const browsing = new OperatorBrowsing({ clock });
  beforeAll(() => browsing.start());
  afterEach(() => browsing.leave());
  afterAll(() => browsing.stop());

  it('[D113] reveals nothing before it, leads to the requested page, and leaves nothing behind afterwards', async () => {
    const one = await browsing.open('#/users');
    await one.heading('Sign in to the administration');
    expect(await one.page.getByRole('navigation').count()).toBe(0);
    await one.signIn();
    await one.heading('Users');
    await one.page.getByRole('banner').getByText(OWNER).waitFor();
    await one.button('Sign out').click();
    await one.heading('Sign in to the administration');
    expect(await one.page.locator('body').innerText()).not.toContain(OWNER);
    await one.page.reload();
    await one.heading('Sign in to the administration');
  });

  it('reports a wrong password, asks again, and slows further attempts without losing the address', async () => {
    const one = await browsing.open();
    await one.tryToSignIn(ADMIN, WRONG);
    await one.alert('The e-mail address or the password is wrong');
    expect(await one.field('Password').inputValue()).toBe('');
    expect(await one.field('E-mail address').inputValue()).toBe(ADMIN);
    for (let tries = 0; (await one.page.getByText('Try again in').count()) === 0; tries += 1) {
      expect(tries).toBeLessThan(10);
      const answer = one.page.waitForResponse(/rest\/admin\/session$/);
      await one.tryToSignIn(undefined, WRONG);
      await answer;
      await one.page.getByRole('alert').waitFor();
    }
    clock.advance(24 * HOUR_SECONDS);
    await one.signIn(ADMIN);
    await one.heading('Overview');
  });

  it('accepts a code together with a new password once', async () => {
    await createUser(browsing.service, { email: 'coded@instance.test', role: 'global:admin' });
    const code = await makeCode(browsing.service, 'coded@instance.test');
    const one = await browsing.open();
    await one.field('E-mail address').fill('coded@instance.test');
    await one.button('I have a code').click();
    expect(await one.field('E-mail address').inputValue()).toBe('coded@instance.test');
    const fill = async (password: string, again: string) => {
      await one.field('Code').fill(code);
      await one.field('New password').fill(password);
      await one.field('New password, again').fill(again);
      await one.button('Set password and sign in').click();
    };
    await fill('too short', 'too short');
    await one.alert('A password has 12 to 200 characters; this one has 9.');
    await fill(PASSWORD, WRONG);
    await one.alert('The two new passwords differ.');
    await fill(PASSWORD, PASSWORD);
    await one.heading('Overview');
    expect(one.page.url()).not.toContain(code);

    await browsing.context.clearCookies();
    await one.page.reload();
    await one.button('I have a code').click();
    await one.field('E-mail address').fill('coded@instance.test');
    await fill(PASSWORD, PASSWORD);
    await one.alert('The code is wrong, was used before, or has expired.');
  });

  it('[D113] returns to the same page after it has ended, with the typed input, which was not sent', async () => {
    const one = await browsing.signedIn('#/entries/add-partner');
    await one.field('Name').fill('typed');
    await one.field('Issuer').fill('https://typed.example');
    clock.advance(HOUR_SECONDS);
    // The page's own check of the entry may notice the end first. Then the button is gone.
    await one.page.evaluate(
      `[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Store the entry')?.click()`,
    );
    await one.text('Your sign-in has ended.');
    expect(await one.page.locator('body').innerText()).not.toContain('1. Trust');
    expect(await one.field('E-mail address').inputValue()).toBe(OWNER);
    await one.tryToSignIn(undefined, PASSWORD);
    await one.text('What you had typed is still here, and was not sent.');
    expect(await one.field('Name').inputValue()).toBe('typed');
    expect(await one.field('Issuer').inputValue()).toBe('https://typed.example');
    expect(
      await browsing.service.rows(`SELECT 1 FROM token_exchange_stored_entry WHERE name = 'typed'`),
    ).toEqual([]);
  });

  it('[D113] by another operator restores no typed input', async () => {
    const one = await browsing.signedIn('#/entries/add-partner');
    await one.field('Name').fill('typed');
    await browsing.context.clearCookies();
    await one.button('Store the entry').click();
    await one.tryToSignIn(ADMIN, PASSWORD);
    await one.heading('Add a partner');
    expect(await one.field('Name').inputValue()).toBe('');
  });

  it('ends in all windows of a browser at once, and another one replaces it in all', async () => {
    const one = await browsing.signedIn('#/users');
    const other = await browsing.open('#/sessions');
    await other.heading('Sessions');
    await one.button('Sign out').click();
    await other.text('You signed out in another window.');
    await one.signIn(ADMIN);
    await other.page.getByRole('banner').getByText(ADMIN).waitFor();
    await other.heading('Sessions');
  });
});
