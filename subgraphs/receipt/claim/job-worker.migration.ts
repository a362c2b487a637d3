import { Migration } from '../../migration.ts';

/** The workers of jobs, and of which process each is: by that process's lease others know whether it lives. */
export class JobWorkers extends Migration {
  override up(): void {
    this.addSql('create table job_worker (worker_id text primary key, owner uuid not null)');
  }
}
