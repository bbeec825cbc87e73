// Prints requests and responses, and counts unexpected responses.
import { styleText } from 'node:util';
import type { HttpAnswer, HttpRequest } from './http-exchange.js';
import { redactCookie, send } from './http-exchange.js';
import { layOut } from './json-layout.js';
import { decodeToken, shortenToken, withShortTokens } from './token-view.js';

export interface Expectation {
  text: string;
  holds: boolean;
}

export interface Step {
  title: string;
  /** One sentence: what this request shows. */
  shows: string;
  request: HttpRequest;
  expect: (answer: HttpAnswer) => Expectation[];
}

/** The output of the transcript, such as standard output. */
export interface TranscriptOutput {
  write: (text: string) => unknown;
}

type Style = Parameters<typeof styleText>[0];

const SHOWN_HEADERS = ['content-type', 'cache-control', 'location', 'retry-after', 'x-request-id'];

export class Transcript {
  private stepCount = 0;
  private failedSteps: string[] = [];

  constructor(
    private readonly output: TranscriptOutput,
    private readonly colours: boolean,
    /** Whether to print every request and response, or only the unexpected ones. */
    private readonly isVerbose: boolean,
  ) {}

  /** The titles of the failed steps. */
  get failures(): readonly string[] {
    return this.failedSteps;
  }

  say(text: string, style?: Style): void {
    this.output.write(
      `${style && this.colours ? styleText(style, text, { validateStream: false }) : text}\n`,
    );
  }

  /** Sends a step's request, prints the verdict and, if requested, both sides, and returns the response. */
  async take(baseUrl: string, step: Step): Promise<HttpAnswer> {
    this.stepCount += 1;
    const answer = await send(baseUrl, step.request);
    const expectations = step.expect(answer);
    const isAsExpected = expectations.every(({ holds }) => holds);
    if (!isAsExpected) this.failedSteps.push(step.title);
    if (this.isVerbose || !isAsExpected) this.printWhole(step, answer, expectations);
    else this.printLine(step, answer);
    return answer;
  }

  private printLine({ title, request: { method, path } }: Step, { status }: HttpAnswer): void {
    const number = String(this.stepCount).padStart(2);
    this.say(`${number}. ${title.padEnd(36)} ✓ ${status}  ${method} ${path}`, 'green');
  }

  private printWhole(step: Step, answer: HttpAnswer, expectations: readonly Expectation[]): void {
    this.say(`\n${this.stepCount}. ${step.title}`, 'bold');
    this.say(`   ${step.shows}\n`, 'dim');
    this.printRequest(step.request);
    this.printAnswer(answer);
    this.say('');
    for (const { text, holds } of expectations) {
      this.say(`   ${holds ? '✓' : '✗ NOT AS EXPECTED:'} ${text}`, holds ? 'green' : 'red');
    }
  }

  private printRequest({ method, path, headers = {}, form = {} }: HttpRequest): void {
    this.say(`   → ${method} ${path}`, 'cyan');
    for (const [name, value] of Object.entries(headers)) this.field(name, shownHeader(name, value));
    for (const [name, value] of Object.entries(form)) {
      this.field(name, shortenToken(value), ' = ');
      this.printClaims(value);
    }
  }

  private printAnswer(answer: HttpAnswer): void {
    this.say(`   ← ${answer.status} ${answer.reason}`, 'cyan');
    for (const name of SHOWN_HEADERS) this.field(name, answer.headers.get(name));
    for (const line of answer.headers.getSetCookie()) this.field('set-cookie', redactCookie(line));
    if (answer.text !== '') this.block(shownBody(answer));
    this.printClaims(answer.json.access_token, 'access_token');
  }

  /** The decoded header and claims if the value is a token. */
  private printClaims(value: unknown, name?: string): void {
    const token = decodeToken(value);
    if (token === undefined) return;
    if (name !== undefined) this.say(`     ${name}, decoded:`);
    this.block(`header ${JSON.stringify(token.header)}`);
    this.block(`claims ${layOut(token.claims)}`);
  }

  private field(name: string, value: string | null, separator = ': '): void {
    if (value !== null) this.say(`     ${name}${separator}${value}`);
  }

  private block(text: string): void {
    this.say(text.replace(/^/gm, '       '), 'dim');
  }
}

function shownHeader(name: string, value: string): string {
  if (name.toLowerCase() === 'cookie') return redactCookie(value);
  return value.split(' ').map(shortenToken).join(' ');
}

function shownBody({ text, json }: HttpAnswer): string {
  if (Object.keys(json).length > 0) return layOut(withShortTokens(json));
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1];
  return title === undefined ? `(${text.length} characters)` : `(a page titled “${title.trim()}”)`;
}
