import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../subgraphs/clock.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { proveAllIntact } from '../../subgraphs/receipt/log/prove-intact.ts';
import { savedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { OperatorFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { Anchoring } from '../log/anchor/anchoring.ts';
import { openAnchors } from '../log/anchor/open-anchors.ts';
import { findServices } from '../operations/find-services.ts';
import { openLogger } from '../operations/logger.ts';
import { requireNoArguments, run } from '../operations/run.ts';
import { openOwnStore } from '../own-store.ts';
import { epochChainOf } from '../rails/base/chain-identity.ts';
import { openBase } from '../rails/base/open-base.ts';
import { openEpoch } from '../rails/epoch.ts';

/*
 * `npm run anchor`: anchors the log's tree head on Base now, independent of the schedule, waits until the transaction is mined and
 * prints it. A service may run meanwhile. A tree head that is already anchored is printed and not sent again.
 */
const WAIT_MS_MAX = 180_000;
const POLL_MS = 500;

await run(async () => {
  requireNoArguments();
  const services = await findServices(readConfig(), { announce: false });
  const { config } = services;
  const { database, log_origin } = await openOwnStore(config, console);
  const chain = openBase({ rpc_url: config.base_rpc_url });
  try {
    const issuer = openIssuer(config.issuer_keys, {
      base_url: config.base_url,
      log_origin,
      now_ms: systemClock.now_ms,
    });
    const anchors = openAnchors(config, { database, chain, issuer });
    if (!anchors)
      throw new OperatorFault(
        'ANCHOR_KEY is not set: set it to the private key of a wallet with ETH on Base (a generated key is used on a development chain only)',
      );
    try {
      const heads = await savedHead(join(config.data_dir, 'log-head.json')).readAll();
      const { kind, found } = (await proveAllIntact(database, heads)).integrity;
      if (kind !== 'intact')
        throw new OperatorFault(
          `the log is not anchored, because it does not match the tree head that is saved in DATA_DIR (${kind}); start the service to see why`,
        );
      const chain_epoch = await openEpoch(database, epochChainOf(chain), { profile: config.profile });
      const anchoring = new Anchoring({ ...anchors, log: { sound: true }, logger: openLogger('warn') });
      const until_ms = performance.now() + WAIT_MS_MAX;
      await anchoring.prove();
      while ((anchors.heads.newest?.tree_size ?? 0) < found.tree_size) {
        const moved = await anchoring.round(chain_epoch, true);
        if (moved.kind === 'trouble')
          throw new OperatorFault(`the log is not anchored: ${moved.trouble}`, { cause: moved.cause });
        if (performance.now() > until_ms)
          throw new OperatorFault(
            'The anchor transaction was sent and is not mined yet. Run the command again to see whether it is.',
          );
        if (moved.kind === 'sent') await sleep(POLL_MS);
      }
      console.log(JSON.stringify(anchoring.shown, null, 2));
    } finally {
      await anchors.close();
    }
  } finally {
    await Promise.all([chain.close(), database.close()]);
    await services.stop();
  }
});
