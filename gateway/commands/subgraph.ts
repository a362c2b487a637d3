import { UsageFault } from '../config/fault.ts';
import { readSubgraphConfig, type SubgraphName, subgraphNames } from '../config/read-config.ts';
import { serveSubgraph } from '../http/serve-subgraph.ts';
import { openGateway } from '../open.ts';
import { type FoundServices, findServices } from '../operations/find-services.ts';
import { subgraphGreeting } from '../operations/greeting.ts';
import { openLogger } from '../operations/logger.ts';
import { run, warnWithoutEffect } from '../operations/run.ts';
import { requirePort } from '../operations/start-faults.ts';
import { startService } from '../operations/start-service.ts';
import { stopOnSignals } from '../operations/stop.ts';

/*
 * `npm run subgraph -- NAME`: serves one subgraph, for gateways that name this process in SUBGRAPH_URLS. It requires the same
 * database, secrets and BASE_URL as these gateways.
 */
const [name = '', ...more] = process.argv.slice(2);
const named = (word: string): word is SubgraphName => subgraphNames.some(known => known === word);
const USAGE = `usage: npm run subgraph -- ${subgraphNames.join('|')}`;

async function serve(
  subgraph_name: SubgraphName,
  { config, stop }: FoundServices,
  handOver: () => boolean,
): Promise<void> {
  const logger = openLogger(config.log_level);
  warnWithoutEffect(logger, config);
  const subgraph = await openGateway(config, { logger, serve: serveSubgraph(subgraph_name) });
  // The handlers are set before the greeting, because a process that reads the greeting may send a signal at once.
  stopOnSignals(subgraph, { config, logger, afterwards: stop });
  if (handOver()) return;
  if (process.stdout.isTTY) console.log(subgraphGreeting(subgraph_name, subgraph.url, config).join('\n'));
  else logger.info(`The ${name} subgraph of ${config.base_url} is served on ${subgraph.url}.`);
}

await run(
  async () => {
    if (!named(name) || more.length > 0) throw new UsageFault();
    const settings = readSubgraphConfig(name);
    await requirePort(settings);
    await startService(
      () => findServices(settings, { announce: false }),
      (services, handOver) => serve(name, services, handOver),
    );
  },
  { usage: USAGE },
);
