// A contender that does the cryptography of exchanges and nothing else.
import { callJson } from './json-calls.mjs';
import { residentBytes } from './process-usage.mjs';
import { RESIDENTS } from './residents.mjs';

const MEBIBYTE = 2 ** 20;

/** @returns a contender for `alternate`, whose CPU time is that of one verification and one signature */
export async function startCryptography(workbench) {
  const name = 'cryptography';
  const token = workbench.partner.sign('ES256', RESIDENTS[0]);
  const { origin, processId } = await workbench.startProgram(name, { token }, '/?pairs=0');
  const measure = async (count) => {
    const { cpuMicros, seconds } = await callJson(`${origin}/?pairs=${count}`);
    return {
      requests: count,
      seconds,
      perSecond: count / seconds,
      serverCpuMicros: cpuMicros / count,
      databaseCpuMicros: 0,
      residentMiB: residentBytes(processId) / MEBIBYTE,
    };
  };
  return { name, measure };
}
