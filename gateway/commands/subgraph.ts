import { readSubgraphConfig, type SubgraphName, subgraphNames } from '../config/read-config.ts';
import { serveSubgraph } from '../http/serve-subgraph.ts';
import { openGateway } from '../open.ts';
import { type FoundServices, findServices } from '../operations/find-services.ts';
import { subgraphGreeting } from '../operations/greeting.ts';
import { openLogger } from '../operations/logger.ts';
import { run, warnWithoutEffect } from '../operations/run.ts';
import { requirePort } from '../operations/start-faults.ts';
import { stopOnSignals } from '../operations/stop.ts';

/*
 * `npm run subgraph -- NAME`: one subgraph alone, for a gateway that names this process in SUBGRAPH_URLS. It wants the same
 * database, secrets and BASE_URL as that gateway.
 */
const [name = '', ...more] = process.argv.slice(2);
const named = (word: string): word is SubgraphName => subgraphNames.some(known => known === word);
if (!named(name) || more.length > 0) {
  console.error(`Say which: npm run subgraph -- ${subgraphNames.join('|')}`);
  process.exit(2);
}

async function serve(subgraph_name: SubgraphName, { config, stop }: FoundServices): Promise<void> {
  const logger = openLogger(config.log_level);
  warnWithoutEffect(logger, config);
  const subgraph = await openGateway(config, { logger, serve: serveSubgraph(subgraph_name) });
  // Before it greets: whoever reads the greeting may stop it.
  stopOnSignals(subgraph, { config, logger, afterwards: stop });
  if (process.stdout.isTTY) console.log(subgraphGreeting(subgraph_name, subgraph.url, config).join('\n'));
  else logger.info(`serving the ${name} subgraph on ${subgraph.url}, for the gateway at ${config.base_url}`);
}

await run(async () => {
  const settings = readSubgraphConfig(name);
  await requirePort(settings);
  const services = await findServices(settings, { announce: false });
  try {
    await serve(name, services);
  } catch (error) {
    await services.stop();
    throw error;
  }
});
