// What the test's page gives to either app.
interface State {
  userKey: string;
  isShown: boolean;
}

export interface Host {
  readonly instance: string;
  readonly state: State;
  readonly events: string[];
  readonly fetchToken: (userKey: string) => Promise<string>;
  set: (state: State) => void;
}

export const { host } = window as unknown as { host: Host };
