import { OperatorFault, UsageFault } from '../config/fault.ts';
import { run } from '../operations/run.ts';
import { RECONCILE_USAGE, reconcileOptions } from './reconcile/options.ts';
import { reconcile, reconciledJson, reconciledLines } from './reconcile/run-reconcile.ts';
import { LogAway } from './witness/log-source.ts';

/* `npm run reconcile -- --wallet 0x… --from N --to M`: compares all USDC that a wallet sent on Base with its receipts. */

const COULD_NOT_CHECK = 3;

async function main(): Promise<number> {
  const options = await reconcileOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(RECONCILE_USAGE);
    return 0;
  }
  const found = await reconcile(options);
  console.log(options.json ? reconciledJson(found) : reconciledLines(found).join('\n'));
  const open = found.wrong.length > 0 || found.transfers.some(each => each.class === 'unreceipted');
  return open ? 1 : 0;
}

await run(
  async () => {
    process.exitCode = await main().catch(fault => {
      if (fault instanceof UsageFault || !(fault instanceof LogAway || fault instanceof OperatorFault)) throw fault;
      throw new OperatorFault(`Cannot check: ${fault.message}`, { cause: fault });
    });
  },
  { usage: RECONCILE_USAGE, fault_code: COULD_NOT_CHECK },
);
