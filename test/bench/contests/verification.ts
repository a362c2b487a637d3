import { measured } from '../child/child.ts';
import { type Contest, type Measured, perCpuSecond, type Side } from '../contest.ts';

const COUNT = 4_000;
const QUICK = 800;

/** Full verification of receipts on one core: token, raw value, both other signatures, every copy and rule. */
export const verification: Contest = {
  name: 'verification',
  beside: 'jose, the token alone: one signature of four, and no copy compared',
  lines: [
    {
      name: 'receipts verified whole, one core',
      unit: 'receipts per CPU second',
      goal: { kind: 'at_least', value: 8_000 },
      of: perCpuSecond,
    },
    {
      name: 'the same: its four signatures alone (ES256 twice, Ed25519, secp256k1)',
      unit: 'ms',
      goal: { kind: 'at_most', value: 0.125 },
      alone: true,
      of: ({ counts }) => counts.signatures_ms ?? Number.NaN,
      cpuUs: ({ counts }) => (counts.signatures_ms ?? Number.NaN) * 1000,
    },
  ],
  async open({ stage, closing, quick }) {
    const verifier = await stage.start({ file: 'verifier' }, closing);
    const count = quick ? QUICK : COUNT;
    const play = (task: string): Promise<Measured> =>
      measured([verifier], () => verifier.ask(task, count).then(() => count));
    const ours: Side = {
      async round() {
        const [whole, signatures] = [await play('whole'), await play('signatures')];
        return { ...whole, counts: { signatures_ms: signatures.cpu_us / count / 1000 } };
      },
    };
    return { ours, beside: { round: () => play('token') } };
  },
};
