import { readSubgraphConfig, type SubgraphName, subgraphNames } from '../config.ts';
import { startDevelopment } from '../development/start.ts';
import { openGateway } from '../gateway.ts';
import { openLogger } from '../logger.ts';
import { stopOnSignals } from '../operations/stop-on-signals.ts';
import { serveSubgraph } from '../serve-subgraph.ts';

/*
 * `npm run subgraph -- NAME`: one subgraph alone, for a gateway that names this process in SUBGRAPH_URLS. It wants the same
 * database, secrets and BASE_URL as that gateway.
 */
const [name = ''] = process.argv.slice(2);
const named = (word: string): word is SubgraphName => subgraphNames.some(known => known === word);
if (!named(name)) {
  console.error(`Say which: npm run subgraph -- ${subgraphNames.join('|')}`);
  process.exit(2);
}

const settings = readSubgraphConfig(name);
const logger = openLogger(settings.log_level);
const development = await startDevelopment(settings, { announce: false });
try {
  const subgraph = await openGateway(development.config, { logger, serve: serveSubgraph(name) });
  logger.info(`serving the ${name} subgraph on ${subgraph.url}, for the gateway at ${settings.base_url}`);
  stopOnSignals(subgraph, { config: development.config, logger, afterwards: () => development.stop() });
} catch (error) {
  await development.stop();
  throw error;
}
