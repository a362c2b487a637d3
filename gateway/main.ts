import { readConfig } from './config.ts';
import { startDevelopment } from './development/start.ts';
import { openGateway } from './gateway.ts';
import { openLogger } from './logger.ts';
import { stopOnSignals } from './operations/stop-on-signals.ts';

const settings = readConfig();
const logger = openLogger(settings.log_level);
const development = await startDevelopment(settings);
try {
  const gateway = await openGateway(development.config, { logger });
  if (settings.profile === 'development') {
    logger.warn({ stand_ins: settings.stand_ins }, 'development profile: nothing here moves real money');
  }
  if (!settings.without_solana && !development.config.solana) {
    logger.warn(
      'no LiteSVM runs on this machine: payments on Solana are not offered, unless SOLANA_RPC_URL names a node',
    );
  }
  logger.info(`serving on ${gateway.url}`);
  stopOnSignals(gateway, { config: development.config, logger, afterwards: () => development.stop() });
} catch (error) {
  await development.stop();
  throw error;
}
