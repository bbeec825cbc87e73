// A contender that does only the cryptography of exchanges.
import { callJson } from './json-calls.mjs';
import { residentBytes } from './process-usage.mjs';
import { RESIDENTS } from './residents.mjs';

const MEBIBYTE = 2 ** 20;

/** @returns a contender for `alternate`. Its CPU time covers one verification and one signature */
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
