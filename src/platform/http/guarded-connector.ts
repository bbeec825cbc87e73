// Makes connections for undici, to allowed network addresses only.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { NetworkAddressPolicy } from './network-address.js';
import { AddressRefusedError } from './network-address.js';

type AddressPolicy = Pick<NetworkAddressPolicy, 'allows'>;
type Connected = Parameters<buildConnector.connector>[1];

/**
 * A connector that obeys the policy. The name server's answers are filtered before a connection is tried, so that
 * nothing is ever sent to a refused address; then the socket that came about is asked, for it alone is the truth.
 * @param timeoutMs for making one connection
 */
export function guardedConnector(policy: AddressPolicy, timeoutMs: number): buildConnector.connector {
  // Without a session cache each connection proves the certificate anew.
  const connect = buildConnector({ lookup: allowedLookup(policy), timeout: timeoutMs, maxCachedSessions: 0 });
  return (options, connected) => {
    // An address in the URL itself is connected to without a lookup.
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

/** A name lookup that finds only the allowed ones of a name's addresses. */
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
