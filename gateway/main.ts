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
  logger.info(`serving on ${gateway.url}`);
  stopOnSignals(gateway, { config: development.config, logger, afterwards: () => development.stop() });
} catch (error) {
  await development.stop();
  throw error;
}
