// A contender that does the cryptography of exchanges and nothing else.
import { foreignShare, machineCpuMicroseconds, residentBytes } from './process-usage.mjs';
import { RESIDENTS } from './residents.mjs';

const MEBIBYTE = 2 ** 20;

/** @returns a contender for `alternate`, whose CPU time is that of one verification and one signature */
export async function startCryptography(workbench) {
  const name = 'cryptography';
  const token = await workbench.partner.sign('ES256', RESIDENTS[0]);
  const server = await workbench.startProgram(name, { token }, '/?pairs=0');
  return { name, measure: (count) => measure(server, count) };
}

async function measure({ origin, processId }, count) {
  const machineBefore = machineCpuMicroseconds();
  const ownBefore = process.cpuUsage();
  const { cpuMicros, seconds } = await (await fetch(`${origin}/?pairs=${count}`)).json();
  const { user, system } = process.cpuUsage(ownBefore);
  const known = cpuMicros + user + system;
  return {
    requests: count,
    seconds,
    perSecond: count / seconds,
    p50Ms: Number.NaN,
    p99Ms: Number.NaN,
    serverCpuMicros: cpuMicros / count,
    databaseCpuMicros: 0,
    generatorCpuMicros: 0,
    foreignShare: foreignShare(machineCpuMicroseconds() - machineBefore, known, seconds),
    residentMiB: residentBytes(processId) / MEBIBYTE,
  };
}
