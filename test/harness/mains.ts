/*
 * All mains of the tests, as one program. After each change a program is bundled (4 s of CPU) and compiled by V8; separate programs would
 * each take that time.
 */

const mains: Readonly<Record<string, () => Promise<unknown>>> = {
  'test/harness/anchor/anchor-and-die.child.ts': () => import('./anchor/anchor-and-die.child.ts'),
  'test/harness/attacks/gateway-in-short-time.ts': () => import('./attacks/gateway-in-short-time.ts'),
  'test/harness/board/reveal-and-die.child.ts': () => import('./board/reveal-and-die.child.ts'),
  'test/harness/development/stand-in.child.ts': () => import('./development/stand-in.child.ts'),
  'test/harness/doors/gateway-that-breaks.ts': () => import('./doors/gateway-that-breaks.ts'),
  'test/harness/escrow/fund-and-die.child.ts': () => import('./escrow/fund-and-die.child.ts'),
  'test/harness/facilitator/gateway-with-short-intervals.ts': () =>
    import('./facilitator/gateway-with-short-intervals.ts'),
  'test/harness/faults/gateway-with-faults.ts': () => import('./faults/gateway-with-faults.ts'),
  'test/harness/hold-job.child.ts': () => import('./hold-job.child.ts'),
  'test/harness/ledger/append-and-die.child.ts': () => import('./ledger/append-and-die.child.ts'),
  'test/harness/log/save-heads.child.ts': () => import('./log/save-heads.child.ts'),
  'test/harness/log/halting-witness.child.ts': () => import('./log/halting-witness.child.ts'),
  'test/harness/faults/gateway-that-stops-soon.ts': () => import('./faults/gateway-that-stops-soon.ts'),
  'test/harness/operations/gateway-with-wrong-clock.ts': () => import('./operations/gateway-with-wrong-clock.ts'),
  'test/harness/receipt/integrate-and-die.child.ts': () => import('./receipt/integrate-and-die.child.ts'),
};

const [main = ''] = process.argv.splice(2, 1);
const start = mains[main];
if (!start) throw new Error(`${main} is not listed in ${import.meta.url}`);
await start();
