//! The state of the cluster. Source: Consul's HTTP API, status.

use crate::client::Client;
use crate::error::Error;
use crate::transport::Call;

impl Client {
    /// The address of the cluster's leader; `None` while there is none.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn leader(&self) -> Result<Option<String>, Error> {
        let raw = self.send(Call::read(self, "v1/status/leader"), &[]).await?;
        let leader: String = raw.json()?.value;
        Ok(Some(leader).filter(|leader| !leader.is_empty()))
    }

    /// The addresses of the cluster's servers.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn peers(&self) -> Result<Vec<String>, Error> {
        Ok(self.list("v1/status/peers".to_owned()).await?.value)
    }
}
