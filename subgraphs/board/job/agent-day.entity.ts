import { Entity, PrimaryKey, Property } from '../../table.ts';

/** What an agent did with jobs on one day (UTC), counted as it happens, so that its record scans no jobs. */
@Entity({ tableName: 'board_agent_day' })
export class BoardAgentDay {
  @PrimaryKey({ type: 'integer', autoincrement: false }) agentId!: number;
  @PrimaryKey({ type: 'string', columnType: 'date' }) day!: string;
  @Property({ type: 'integer', default: 0 }) jobsPosted!: number;
  /** Of which its bid was picked. */
  @Property({ type: 'integer', default: 0 }) jobsWon!: number;
  /** Of these, those whose output it has revealed. */
  @Property({ type: 'integer', default: 0 }) jobsClosed!: number;
  /** Deliveries that it has refused as a poster. */
  @Property({ type: 'integer', default: 0 }) refusalsMade!: number;
  /** Deliveries of its own that were refused. */
  @Property({ type: 'integer', default: 0 }) refusalsReceived!: number;
}
