/**
 * A check by its name. `run` throws, or says false, where it fails; null or nothing to compare is said as `open`.
 * @typedef {{name: string, says: string, run: (opened: any) => unknown}} Check
 * @typedef {{name: string, status: 'passed' | 'failed' | 'open', says: string}} Checked
 */

export const OPEN = null;

/** Each by itself: one that fails keeps no other from being made. @param {readonly Check[]} checks @param {any} opened @returns {Promise<Checked[]>} */
export function runAll(checks, opened) {
  return Promise.all(
    checks.map(async ({ name, says, run }) => {
      try {
        const held = await run(opened);
        return { name, says, status: held === OPEN ? 'open' : held === true ? 'passed' : 'failed' };
      } catch (fault) {
        const why = fault instanceof Error ? fault.message : String(fault);
        return { name, says: `${says} It could not be made: ${why}.`, status: 'failed' };
      }
    }),
  );
}
