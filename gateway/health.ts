import type { JsonObject } from '../schema/canonical-json.ts';
import type { Database } from '../subgraphs/database.ts';
import type { BaseChain } from './payment/base/chain.ts';

export interface HealthParts {
  readonly database: Database;
  readonly chain: BaseChain;
  readonly profile: 'development' | 'production';
  readonly stand_ins: readonly string[];
}

/** `degraded` while something that a paid call needs is away; what it is stands beside it. */
export async function health({ database, chain, profile, stand_ins }: HealthParts): Promise<JsonObject> {
  const [log, block] = await Promise.all([treeHead(database), chain.block('latest')]);
  const away = [...(log === null ? ['database'] : []), ...(block.kind === 'ok' ? [] : ['base'])];
  return {
    status: away.length === 0 ? 'ok' : 'degraded',
    away,
    profile,
    stand_ins: [...stand_ins],
    log: log ?? null,
    // The root is anchored nowhere outside yet; where it will be, root and transaction stand here.
    last_anchored_root: null,
    last_anchored_tx: null,
    free_tier: false,
  };
}

async function treeHead(database: Database): Promise<JsonObject | null> {
  try {
    const rows = await database.query<{ tree_size: number; root_hash: Buffer }>({
      name: 'health',
      text: 'select tree_size, root_hash from log_head',
    });
    return { tree_size: rows[0]?.tree_size ?? 0, root_hash: rows[0]?.root_hash.toString('hex') ?? '' };
  } catch {
    return null;
  }
}
