//! Every method of the protocol, one file per resource.

mod permission;
mod projects;
mod question;
mod session;
mod tasks;

use std::sync::Arc;

use ostler_protocol::{
    PROTOCOL_VERSION, RpcError,
    methods::{
        Caller, EventsSubscribeParams, EventsSubscribeResult, EventsUnsubscribeParams, Handler,
        HostInfoParams, HostInfoResult, PermissionAnswerParams, PermissionPendingParams,
        PermissionPendingResult, PermissionRejectParams, ProjectRow, ProjectsListParams,
        ProjectsListResult, ProjectsTrustParams, ProjectsTrustReportParams,
        ProjectsTrustReportResult, ProvidersListParams, ProvidersListResult, QuestionAnswerParams,
        QuestionPendingParams, QuestionPendingResult, QuestionRejectParams, RpcDiscoverParams,
        RpcDiscoverResult, SessionDequeueParams, SessionDequeueResult, SessionListParams,
        SessionListResult, SessionOpenParams, SessionOpenResult, SessionRenameParams,
        SessionResumeParams, SessionResumeResult, SessionSendParams, SessionSendResult,
        SessionSetParams, SessionStartParams, SessionStartResult, SessionStopParams,
        TasksListParams, TasksListResult, TasksOutputParams, TasksOutputResult, TasksStopParams,
        TasksStopResult, ToolInfo, ToolsListParams, ToolsListResult,
    },
    session::SessionRow,
};
use ostler_tool::Registry;

use crate::{
    host::{Host, not_loaded, openrpc},
    live::SessionSpec,
};
pub(crate) use session::live_row;
pub use tasks::task_output;

impl Handler for Host {
    async fn tools_list(
        &self,
        _caller: &Caller,
        _params: ToolsListParams,
    ) -> Result<ToolsListResult, RpcError> {
        let registry = self.builtin_tools()?;
        Ok(tool_infos(&registry))
    }

    async fn session_start(
        &self,
        _caller: &Caller,
        params: SessionStartParams,
    ) -> Result<SessionStartResult, RpcError> {
        session::start(self, params)
    }

    async fn session_send(
        &self,
        _caller: &Caller,
        params: SessionSendParams,
    ) -> Result<SessionSendResult, RpcError> {
        session::send(self, params).await
    }

    async fn session_dequeue(
        &self,
        _caller: &Caller,
        params: SessionDequeueParams,
    ) -> Result<SessionDequeueResult, RpcError> {
        session::dequeue(self, params).await
    }

    async fn session_stop(
        &self,
        _caller: &Caller,
        params: SessionStopParams,
    ) -> Result<(), RpcError> {
        session::stop(self, params).await
    }

    async fn session_list(
        &self,
        _caller: &Caller,
        params: SessionListParams,
    ) -> Result<SessionListResult, RpcError> {
        session::list(self, &params)
    }

    async fn session_resume(
        &self,
        _caller: &Caller,
        params: SessionResumeParams,
    ) -> Result<SessionResumeResult, RpcError> {
        session::resume(self, &params.session_id).await
    }

    async fn session_open(
        &self,
        _caller: &Caller,
        params: SessionOpenParams,
    ) -> Result<SessionOpenResult, RpcError> {
        session::open(self, params).await
    }

    async fn session_rename(
        &self,
        _caller: &Caller,
        params: SessionRenameParams,
    ) -> Result<(), RpcError> {
        session::rename(self, params).await
    }

    async fn session_set(
        &self,
        _caller: &Caller,
        params: SessionSetParams,
    ) -> Result<SessionRow, RpcError> {
        session::set(self, params).await
    }

    async fn permission_answer(
        &self,
        _caller: &Caller,
        params: PermissionAnswerParams,
    ) -> Result<(), RpcError> {
        permission::answer(self, params).await
    }

    async fn permission_reject(
        &self,
        _caller: &Caller,
        params: PermissionRejectParams,
    ) -> Result<(), RpcError> {
        permission::reject(self, params).await
    }

    async fn permission_pending(
        &self,
        _caller: &Caller,
        params: PermissionPendingParams,
    ) -> Result<PermissionPendingResult, RpcError> {
        Ok(permission::pending(self, params.session_id.as_ref()))
    }

    async fn question_answer(
        &self,
        _caller: &Caller,
        params: QuestionAnswerParams,
    ) -> Result<(), RpcError> {
        question::answer(self, params).await
    }

    async fn question_reject(
        &self,
        _caller: &Caller,
        params: QuestionRejectParams,
    ) -> Result<(), RpcError> {
        question::reject(self, params).await
    }

    async fn question_pending(
        &self,
        _caller: &Caller,
        params: QuestionPendingParams,
    ) -> Result<QuestionPendingResult, RpcError> {
        Ok(question::pending(self, params.session_id.as_ref()))
    }

    async fn tasks_list(
        &self,
        _caller: &Caller,
        params: TasksListParams,
    ) -> Result<TasksListResult, RpcError> {
        tasks::list(self, &params.session_id)
    }

    async fn tasks_output(
        &self,
        _caller: &Caller,
        params: TasksOutputParams,
    ) -> Result<TasksOutputResult, RpcError> {
        tasks::output(self, params).await
    }

    async fn tasks_stop(
        &self,
        _caller: &Caller,
        params: TasksStopParams,
    ) -> Result<TasksStopResult, RpcError> {
        tasks::stop(self, params).await
    }

    async fn providers_list(
        &self,
        _caller: &Caller,
        _params: ProvidersListParams,
    ) -> Result<ProvidersListResult, RpcError> {
        Ok(self.providers())
    }

    async fn projects_list(
        &self,
        _caller: &Caller,
        _params: ProjectsListParams,
    ) -> Result<ProjectsListResult, RpcError> {
        projects::list(self)
    }

    async fn projects_trust_report(
        &self,
        _caller: &Caller,
        params: ProjectsTrustReportParams,
    ) -> Result<ProjectsTrustReportResult, RpcError> {
        projects::trust_report(self, &params.path)
    }

    async fn projects_trust(
        &self,
        _caller: &Caller,
        params: ProjectsTrustParams,
    ) -> Result<ProjectRow, RpcError> {
        projects::trust(self, &params)
    }

    async fn host_info(
        &self,
        _caller: &Caller,
        _params: HostInfoParams,
    ) -> Result<HostInfoResult, RpcError> {
        let spec = SessionSpec::new(self.env().cwd.clone());
        let settings = crate::settings::load(self, &spec);
        let model = self
            .resolve_model(&spec, None, settings.model.as_deref())
            .ok()
            .filter(|m| m.is_configured());
        Ok(HostInfoResult {
            version: crate::VERSION.to_owned(),
            protocol: PROTOCOL_VERSION.to_owned(),
            epoch: self.epoch().to_owned(),
            home: self.env().roots.home.to_text(),
            cwd: self.env().cwd.to_text(),
            platform: std::env::consts::OS.to_owned(),
            scripted: model.as_ref().is_some_and(|model| model.is_scripted()),
            provider: model.as_ref().map(|model| model.provider_id().to_owned()),
            model: model.map(|model| model.id),
        })
    }

    async fn events_subscribe(
        &self,
        caller: &Caller,
        params: EventsSubscribeParams,
    ) -> Result<EventsSubscribeResult, RpcError> {
        let attachment = self.attachment(caller)?;
        let epoch = self.epoch().to_owned();
        let Some(session) = self.session(&params.session_id) else {
            // A session that nobody serves has no events yet; the client looks with
            // `session.open` and subscribes when it is loaded.
            if self.store().find(params.session_id.as_str()).is_none() {
                return Err(not_loaded(&params.session_id));
            }
            return Ok(EventsSubscribeResult {
                seq: 0,
                epoch,
                gap: params.after.is_some_and(|after| after > 0),
            });
        };
        let other_epoch = params.epoch.as_ref().is_some_and(|known| *known != epoch);
        let after = if other_epoch { None } else { params.after };
        let (seq, gap) = session.hub.subscribe(&caller.client, attachment.events, after);
        Ok(EventsSubscribeResult { seq, epoch, gap: gap || other_epoch })
    }

    async fn events_unsubscribe(
        &self,
        caller: &Caller,
        params: EventsUnsubscribeParams,
    ) -> Result<(), RpcError> {
        if let Some(session) = self.session(&params.session_id) {
            session.hub.unsubscribe(&caller.client);
        }
        Ok(())
    }

    async fn rpc_discover(
        &self,
        _caller: &Caller,
        _params: RpcDiscoverParams,
    ) -> Result<RpcDiscoverResult, RpcError> {
        Ok(RpcDiscoverResult(openrpc().clone()))
    }
}

fn tool_infos(registry: &Registry) -> Vec<ToolInfo> {
    registry
        .iter()
        .map(Arc::clone)
        .map(|tool| ToolInfo {
            id: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.schema().clone(),
        })
        .collect()
}
