import { readConfig, type Settings } from './config/read-config.ts';
import { type Development, startDevelopment } from './development/start.ts';
import { openGateway } from './open.ts';
import { greeting } from './operations/greeting.ts';
import { requirePort } from './operations/listen-fault.ts';
import { openLogger } from './operations/logger.ts';
import { run } from './operations/run.ts';
import { stopOnSignals } from './operations/stop-on-signals.ts';

const NO_SOLANA =
  'no LiteSVM runs on this machine: payments on Solana are not offered, unless SOLANA_RPC_URL names a node';

async function serve(settings: Settings, { config, stop }: Development): Promise<void> {
  const logger = openLogger(settings.log_level);
  const gateway = await openGateway(config, { logger });
  if (process.stdout.isTTY) console.log(greeting(gateway.url, config).join('\n'));
  else {
    if (settings.profile === 'development')
      logger.warn({ stand_ins: settings.stand_ins }, 'development profile: nothing here moves real money');
    logger.info(`serving on ${gateway.url}`);
  }
  if (!settings.without_solana && !config.solana) logger.warn(NO_SOLANA);
  stopOnSignals(gateway, { config, logger, afterwards: stop });
}

await run(async () => {
  const settings = readConfig();
  await requirePort(settings);
  const development = await startDevelopment(settings);
  try {
    await serve(settings, development);
  } catch (error) {
    await development.stop();
    throw error;
  }
});
