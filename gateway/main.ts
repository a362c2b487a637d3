import { readConfig } from './config.ts';
import { startDevelopment } from './development/start.ts';
import { openGateway } from './gateway.ts';
import { openLogger } from './logger.ts';

const settings = readConfig();
const logger = openLogger(settings.log_level);
const development = await startDevelopment(settings);
try {
  const gateway = await openGateway(development.config, { logger });
  if (settings.profile === 'development') {
    logger.warn({ stand_ins: settings.stand_ins }, 'development profile: nothing here moves real money');
  }
  logger.info(`serving on ${gateway.url}`);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await gateway.close();
    await development.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
} catch (error) {
  await development.stop();
  throw error;
}
