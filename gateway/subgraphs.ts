import { boardSubgraph } from '../subgraphs/board/index.ts';
import { bookSubgraph } from '../subgraphs/book/index.ts';
import { receiptSubgraph } from '../subgraphs/receipt/index.ts';
import { sessionSubgraph } from '../subgraphs/session/index.ts';
import type { Subgraph } from '../subgraphs/subgraph.ts';

/** Every subgraph of the graph, built for this process. */
export function subgraphs(): Promise<Subgraph[]> {
  return Promise.all([receiptSubgraph(), bookSubgraph(), sessionSubgraph(), boardSubgraph()]);
}
