// Opens undici's connections, to allowed network addresses only.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { NetworkAddressPolicy } from './network-address.js';
import { AddressRefusedError } from './network-address.js';

type AddressPolicy = Pick<NetworkAddressPolicy, 'allows'>;
type Connected = Parameters<buildConnector.connector>[1];

/**
 * A connector that enforces the policy. It filters the name server's answers first, so that nothing is ever
 * sent to a refused address. Then it checks the socket's actual address.
 * @param timeoutMs the time limit of one connection
 */
export function guardedConnector(policy: AddressPolicy, timeoutMs: number): buildConnector.connector {
  // Without a session cache, each connection verifies the certificate again.
  const connect = buildConnector({ lookup: allowedLookup(policy), timeout: timeoutMs, maxCachedSessions: 0 });
  return (options, connected) => {
    // An IP address in the URL needs no lookup.
    if (isIP(options.hostname) !== 0 && !policy.allows(options.hostname)) {
      connected(new AddressRefusedError(options.hostname), null);
    } else {
      connect(options, checkingSocket(policy, connected));
    }
  };
}

function checkingSocket(policy: AddressPolicy, connected: Connected): Connected {
  return (error, socket) => {
    if (error !== null) {
      connected(error, null);
    } else if (socket.remoteAddress !== undefined && policy.allows(socket.remoteAddress)) {
      connected(null, socket);
    } else {
      socket.destroy();
      connected(new AddressRefusedError(socket.remoteAddress), null);
    }
  };
}

/** A DNS lookup that returns only the allowed addresses of a name. */
function allowedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, found) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = error === null ? addresses.filter(({ address }) => policy.allows(address)) : [];
      if (error !== null) found(error, []);
      else if (allowed[0] === undefined) found(new AddressRefusedError(addresses[0]?.address), []);
      else if (options.all === true) found(null, allowed);
      else found(null, allowed[0].address, allowed[0].family);
    });
  };
}
