import { readConfig, type Settings } from './config/read-config.ts';
import { openGateway } from './open.ts';
import { type FoundServices, findServices } from './operations/find-services.ts';
import { greeting, pageToOpen } from './operations/greeting.ts';
import { openLogger } from './operations/logger.ts';
import { requireNoArguments, run, warnWithoutEffect } from './operations/run.ts';
import { requirePort } from './operations/start-faults.ts';
import { startService } from './operations/start-service.ts';
import { stopOnSignals } from './operations/stop.ts';

/* `npm start`: runs the gateway as a process, until a signal stops it. */

const NO_SOLANA =
  'LiteSVM does not run on this machine, so payments on Solana are not offered; set SOLANA_RPC_URL to use a node';

async function serve(settings: Settings, { config, stop }: FoundServices, handOver: () => boolean): Promise<void> {
  const logger = openLogger(settings.log_level);
  warnWithoutEffect(logger, settings);
  const gateway = await openGateway(config, { logger });
  // Signals are handled before the greeting is printed, because its reader may stop the process at once.
  stopOnSignals(gateway, { config, logger, afterwards: stop });
  if (handOver()) return;
  if (!settings.without_solana && !config.solana) logger.warn(NO_SOLANA);
  if (process.stdout.isTTY) console.log(greeting(gateway.url, config).join('\n'));
  else {
    if (settings.profile === 'development')
      logger.warn({ stand_ins: settings.stand_ins }, 'development profile: no real money moves');
    logger.info({ open: pageToOpen(gateway.url) }, `serving on ${gateway.url}`);
  }
}

await run(async () => {
  requireNoArguments();
  const settings = readConfig();
  await requirePort(settings);
  await startService(
    () => findServices(settings),
    (services, handOver) => serve(settings, services, handOver),
  );
});
