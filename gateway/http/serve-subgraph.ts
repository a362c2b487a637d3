import type { JsonObject } from '../../schema/canonical-json.ts';
import { ResponseHeaders } from '../../subgraphs/context.ts';
import { openVault } from '../../subgraphs/vault.ts';
import type { SubgraphName } from '../config/read-config.ts';
import { callKey, uploadsOf } from '../graph/remote/call.ts';
import { CallGate } from '../graph/remote/call-gate.ts';
import { type OperatorPage, openSubgraphServer, type PageText } from '../graph/remote/server.ts';
import { mayRead } from '../operations/metrics.ts';
import { listenFault } from '../operations/start-faults.ts';
import { subgraphNamed } from '../parts.ts';
import type { Serve, ServeParts } from './serve-gateway.ts';

/**
 * Serves one subgraph on a separate port. The process has all duties of a gateway's: it settles its charges and finishes those that
 * a process left when it ended. The gateway identifies the caller, and only calls that the gateway has signed are accepted.
 */
export function serveSubgraph(name: SubgraphName): Serve {
  return async (config, services, serving) => {
    const { host, port, subgraph_secret } = config;
    const { logger, closing } = serving;
    const { clock, uploads } = services;
    const gateOf = (subgraph: string) => new CallGate({ key: callKey(subgraph_secret), subgraph, clock });
    const server = openSubgraphServer({
      subgraph: await subgraphNamed(name, serving.features),
      gate: gateOf(name),
      files: { gate: gateOf(uploadsOf(name)), uploads },
      vault: openVault(subgraph_secret),
      createContext: (principal, brought) => ({ ...services, ...brought, principal, response: new ResponseHeaders() }),
      pages: operatorPages(serving),
      logger,
    });
    closing.adopt(server, it => it.close());
    await server.listen(host, port).catch(async error => {
      throw await listenFault(error, config);
    });
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  };
}

/** The operator endpoints, the same as those of a gateway. */
function operatorPages({
  health,
  missingNeeds,
  operations: { metrics, exposure },
}: ServeParts): Readonly<Record<string, OperatorPage>> {
  return {
    '/health': async () => json(200, await health()),
    '/livez': async () => json(200, { status: 'ok' }),
    async '/readyz'() {
      const missing = await missingNeeds();
      return missing.length === 0
        ? json(200, { status: 'ok' })
        : json(503, { status: 'unavailable', away: [...missing] });
    },
    async '/metrics'(authorization) {
      if (!mayRead(exposure, authorization)) return null;
      return { status: 200, media: metrics.media, text: await metrics.exposition() };
    },
  };
}

function json(status: number, document: JsonObject): PageText {
  return { status, media: 'application/json', text: JSON.stringify(document) };
}
