// Explains why the service cannot listen on its address: one line with the variable and the cause.
import { StartError } from '../start-error.js';

/** The address to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The names of the variables that set the address. */
interface ListenVariables {
  readonly host: string;
  readonly port: string;
}

export const SERVICE_ADDRESS: ListenVariables = { host: 'SVC_HOST', port: 'SVC_PORT' };
export const METRICS_ADDRESS: ListenVariables = { host: 'SVC_METRICS_HOST', port: 'SVC_METRICS_PORT' };

/**
 * @param cause Node.js's error, of `listen` or of resolving the host
 * @returns an error whose message names the variable to change
 */
export function listenError(cause: unknown, at: ListenAddress, variables: ListenVariables): StartError {
  const { code, syscall } = cause as NodeJS.ErrnoException;
  const message =
    syscall === 'getaddrinfo' ? unknownName(at, variables, code) : unusable(at, variables, code);
  return new StartError(message);
}

function unknownName({ host }: ListenAddress, variables: ListenVariables, code?: string): string {
  return `${variables.host}: the name ${host} cannot be resolved (${code})`;
}

function unusable({ host, port }: ListenAddress, variables: ListenVariables, code?: string): string {
  if (code === 'EADDRINUSE')
    return `${variables.port}: another process listens on ${host} port ${port}; set another port, or another ${variables.host}`;
  if (code === 'EACCES')
    return `${variables.port}: listening on port ${port} is not permitted; set another port`;
  if (code === 'EADDRNOTAVAIL') return `${variables.host}: this machine has no address ${host}`;
  return `${variables.host}: listening on ${host} port ${port} is not possible (${code})`;
}
